"""What commits say beside the fields of their files, and how it adds up."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from deltaweb.delta.log.replay import in_force
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction
from deltaweb.delta.writing.checkpoint.rare_actions import RareActions


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
