"""What commits say beside the fields of their files, and how it adds up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from deltaweb.delta.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.checkpoint_writer.rare_actions import RareActions
from deltaweb.delta.errors import MissingMetadataError, MissingProtocolError


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """What commits say beside the fields of their files.

    Attributes:
        protocol: The newest protocol; None when no commit has one.
        metadata: The newest metaData; None when no commit has one.
        transactions: The newest transaction of each application.
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


def merge_facts(facts: Iterable[CommitFacts]) -> CommitFacts:
    """Return what commits say together, given oldest first."""
    merged = CommitFacts()
    for newer in facts:
        merged = CommitFacts(
            protocol=newer.protocol or merged.protocol,
            metadata=newer.metadata or merged.metadata,
            transactions={**merged.transactions, **newer.transactions},
            domains={**merged.domains, **newer.domains},
            extras=merged.extras | newer.extras,
            partition_keys=tuple(
                dict.fromkeys([*merged.partition_keys, *newer.partition_keys])
            ),
            num_actions=merged.num_actions + newer.num_actions,
        )
    return merged


def bring_up_to(
    older: RareActions | None, facts: CommitFacts, *, version: int, root: str
) -> RareActions:
    """Return the rare actions of a version, whichever of the commits bring newer ones.

    Raises:
        MissingProtocolError: If there is no protocol.
        MissingMetadataError: If there is no metaData.
    """
    protocol, metadata = facts.protocol, facts.metadata
    if older is not None:
        protocol, metadata = protocol or older.protocol, metadata or older.metadata
    if protocol is None:
        raise MissingProtocolError(root=root, version=version)
    if metadata is None:
        raise MissingMetadataError(root=root, version=version)
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
