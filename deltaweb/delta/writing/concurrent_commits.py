"""The commits that were made first: what of each a conflict may be about.

Source: delta_protocol.md, "Actions".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
import pyarrow as pa

from deltaweb.delta.log.commits.arrow_reader import (
    ActionBatch,
    CommitData,
    parse_actions,
)
from deltaweb.delta.log.commits.fields import (
    COMMIT_INFO,
    METADATA,
    PROTOCOL,
    TRANSACTION,
    commit_schema,
    file_action,
)
from deltaweb.delta.log.commits.msgspec_reader import ABSENT, DefiningLine
from deltaweb.delta.log.commits.newest import NewestActions
from deltaweb.delta.log.commits.reading import read_some
from deltaweb.delta.log.file_actions import VECTOR, partition_map
from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.row_tracking.logged_fields import DOMAIN as ROW_TRACKING_DOMAIN
from deltaweb.delta.row_tracking.logged_fields import (
    DOMAIN_METADATA,
    read_high_water_mark,
)
from deltaweb.delta.snapshot.state import load_state

REMOVE: Final = file_action(("path", "dataChange", "deletionVector"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WinningCommit:
    """A commit that another writer made of a version that we wanted to make.

    Attributes:
        operation: What its commitInfo calls it; None where it does not.
        is_blind_append: Whether its commitInfo says that it read nothing.
        added: path string, data_change bool, partition_values map<string, string>,
            stats string, deletion_vector struct (as in the log).
        removed: path string, data_change bool, deletion_vector struct.
        row_id_mark: The highest id that a row has got with it; None where it gave none.
    """

    version: int
    operation: str | None
    is_blind_append: bool
    protocol: Protocol | None
    metadata: Metadata | None
    transactions: Mapping[str, SetTransaction]
    added: pa.Table
    removed: pa.Table
    row_id_mark: int | None = None

    @property
    def changes_definition(self) -> bool:
        return self.metadata is not None or self.protocol is not None

    def on_top_of(self, earlier: "WinningCommit | None") -> "WinningCommit":
        """Return it with all that it leaves of a definition that it changes in part.

        Args:
            earlier: The last winner before it that changed the definition; None for
                none.
        """
        if earlier is None or not self.changes_definition:
            return self
        return replace(
            self,
            protocol=self.protocol or earlier.protocol,
            metadata=self.metadata or earlier.metadata,
        )


_DECODER: Final = msgspec.json.Decoder(DefiningLine)


def may_define(data: bytes) -> bool:
    """Return False of a commit that surely has neither protocol nor metaData.

    Who appends in a race reads each commit of the others, and needs this alone of it.

    Args:
        data: The commit. One that is not lines of JSON objects may have anything.
    """
    try:
        lines = _DECODER.decode_lines(data)
    except (msgspec.MsgspecError, RecursionError):
        return True
    return any(
        line.protocol is not ABSENT or line.meta_data is not ABSENT for line in lines
    )


def read_winner(
    store: LogStore, version: int, partition_columns: Sequence[str]
) -> WinningCommit:
    """Read the commit of a version.

    Args:
        partition_columns: The keys of the partition values that files have.
    """
    name = commit_name(version)
    (file,) = read_some(store, [name])
    return parse_winner(
        CommitData(f"{store.root}/_delta_log/{name}", file.data),
        version,
        partition_columns,
    )


def parse_winner(
    commit: CommitData, version: int, partition_columns: Sequence[str]
) -> WinningCommit:
    """Parse a commit; see `read_winner`."""
    add = file_action(
        ("path", "dataChange", "deletionVector", "stats"),
        partition_columns=partition_columns,
    )
    batch = parse_actions(
        [commit],
        commit_schema(
            PROTOCOL,
            METADATA,
            COMMIT_INFO,
            add=add,
            remove=REMOVE,
            txn=TRANSACTION,
            domainMetadata=DOMAIN_METADATA,
        ),
    )
    newest = NewestActions([*partition_columns])
    newest.take_metadata(batch)
    newest.take_protocol(batch)
    newest.take_transactions(batch)
    info = _info(batch)
    operation = info.get("operation")
    return WinningCommit(
        version=version,
        operation=operation if isinstance(operation, str) else None,
        is_blind_append=info.get("isBlindAppend") is True,
        protocol=newest.protocol,
        metadata=newest.metadata,
        transactions=newest.transactions,
        added=_added(batch, partition_columns),
        removed=_files(batch, "remove"),
        row_id_mark=_row_id_mark(batch),
    )


def _row_id_mark(batch: ActionBatch) -> int | None:
    """Return the highest id that a row has got with a commit, if it says one."""
    marks = [
        read_high_water_mark(raw["configuration"])
        for raw in batch.table["domainMetadata"].drop_null().to_pylist()
        if raw["domain"] == ROW_TRACKING_DOMAIN
    ]
    return max(marks, default=None)


def _info(batch: ActionBatch) -> Mapping[str, Any]:
    infos = batch.objects(COMMIT_INFO)
    return infos[-1][1] if infos else {}


def _files(batch: ActionBatch, action: str) -> pa.Table:
    files = batch.column(action).drop_null()
    changes = files.field("dataChange").fill_null(True)  # noqa: FBT003  # one that does not say does
    return pa.table(
        {
            "path": files.field("path"),
            "data_change": changes,
            VECTOR: files.field("deletionVector"),
        }
    )


def _added(batch: ActionBatch, partition_columns: Sequence[str]) -> pa.Table:
    files = batch.column("add").drop_null()
    values = partition_map(files.field("partitionValues"), frozenset(partition_columns))
    return (
        _files(batch, "add")
        .append_column("partition_values", values)
        .append_column("stats", files.field("stats"))
        .select(["path", "data_change", "partition_values", "stats", VECTOR])
    )


# === Applications ===


def is_noted(store: LogStore, txn: SetTransaction | None) -> bool:
    """Tell whether a table has an application's `txn`, or a later one, already.

    Ask before files are written: then none is written in vain.
    """
    if txn is None:
        return False
    return covers(load_state(store, None).transactions(), txn)


def covers(noted: Mapping[str, SetTransaction], txn: SetTransaction | None) -> bool:
    """Tell whether an application has come as far already, or farther."""
    return txn is not None and (
        txn.app_id in noted and noted[txn.app_id].version >= txn.version
    )
