"""The actions that a checkpoint has one of, or few, as its columns hold them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log.replay import in_force
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.writing.checkpoint.checkpoint_schema import CheckpointLayout


@dataclass(frozen=True, slots=True)
class RareActions:
    """What a snapshot has one of, or few."""

    protocol: Protocol
    metadata: Metadata
    transactions: Mapping[str, SetTransaction]
    domains: Mapping[str, str]

    def extras(self) -> set[str]:
        """Return the fields beside the specification's that these actions have."""
        found = set()
        if any(txn.last_updated is not None for txn in self.transactions.values()):
            found.add("txn.lastUpdated")
        if self.protocol.reader_features is not None:
            found.add("protocol.readerFeatures")
        if self.protocol.writer_features is not None:
            found.add("protocol.writerFeatures")
        if self.domains:
            found.add("domainMetadata")
        return found

    def table(self, layout: CheckpointLayout, *, root: str) -> pa.Table:
        """Return a row an action, in the checkpoint's columns."""
        transactions = sorted(self.transactions.items())
        rows = [
            *([] if layout.version is None else [_of_version(layout.version)]),
            {"protocol": _protocol(self.protocol)},
            {"metaData": _metadata(self.metadata)},
            *({"txn": _transaction(transaction)} for _, transaction in transactions),
            *(
                {"domainMetadata": _domain(name, configuration)}
                for name, configuration in sorted(self.domains.items())
            ),
        ]
        try:
            schema = replace(layout, has_sidecars=False).schema
            return pa.Table.from_pylist(rows, schema=schema)
        except (pa.ArrowException, UnicodeError, OverflowError):
            reason = "its metaData or protocol has a value that no checkpoint can hold"
            raise LogCorruptError(path=f"{root}/_delta_log", reason=reason) from None


def _of_version(version: int) -> dict[str, Any]:
    return {"checkpointMetadata": {"version": version, "tags": None}}


def _domain(name: str, configuration: str) -> dict[str, Any]:
    return {"domain": name, "configuration": configuration, "removed": False}


def _protocol(protocol: Protocol) -> dict[str, Any]:
    return {
        "minReaderVersion": protocol.min_reader_version,
        "minWriterVersion": protocol.min_writer_version,
        "readerFeatures": _texts(protocol.reader_features),
        "writerFeatures": _texts(protocol.writer_features),
    }


def _texts(texts: Sequence[str] | None) -> list[str] | None:
    return None if texts is None else list(texts)


def _metadata(metadata: Metadata) -> dict[str, Any]:
    return {
        "id": metadata.id,
        "name": metadata.name,
        "description": metadata.description,
        "format": {
            "provider": metadata.format.provider,
            "options": list(metadata.format.options.items()),
        },
        "schemaString": metadata.schema_string,
        "partitionColumns": list(metadata.partition_columns),
        "createdTime": metadata.created_time,
        "configuration": list(metadata.configuration.items()),
    }


def _transaction(transaction: SetTransaction) -> dict[str, Any]:
    return {
        "appId": transaction.app_id,
        "version": transaction.version,
        "lastUpdated": transaction.last_updated,
    }


# === What commits say beside the fields of their files, and how it adds up ===


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """What commits say beside the fields of their files.

    Attributes:
        domains: The newest configuration of each domain, None where it was removed.
        extras: Dotted names of fields beside the specification's that an action has.
        partition_keys: Keys that partition values may have by any metaData.
        num_actions: File actions, those that later ones replace included.
    """

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    transactions: Mapping[str, SetTransaction] = field(default_factory=dict)
    domains: Mapping[str, str | None] = field(default_factory=dict)
    extras: frozenset[str] = frozenset()
    partition_keys: tuple[str, ...] = ()
    num_actions: int = 0


def bring_up_to(
    older: RareActions | None, facts: CommitFacts, *, version: int, root: str
) -> RareActions:
    """Return the rare actions of a version, the newest of each kind."""
    protocol, metadata = facts.protocol, facts.metadata
    if older is not None:
        protocol, metadata = protocol or older.protocol, metadata or older.metadata
    protocol, metadata = in_force(protocol, metadata, root=root, version=version)
    domains = {**(older.domains if older else {}), **facts.domains}
    return RareActions(
        protocol=protocol,
        metadata=metadata,
        transactions={
            **(older.transactions if older else {}),
            **facts.transactions,
        },
        domains={name: text for name, text in domains.items() if text is not None},
    )
