"""Which clients open a version by themselves, and why the others do not.

What pages say of clients and the code that they give people both come from here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.known.clients import (
    CLIENTS,
    Answer,
    ReadingClient,
    Support,
)
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.features.known.verdicts import ClientVerdict, client_verdict
from deltaweb.delta.features.type_widening import unknown_type_changes

MAX_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectReading:
    """Whether a client that opens a table's log by itself reads a version.

    Attributes:
        supports: What it does with each feature that a reader must know.
        stopped_by: The features that it is known not to read.
    """

    client: ReadingClient
    supports: Mapping[str, Support]
    verdict: ClientVerdict
    reason: str
    stopped_by: Sequence[str]

    @property
    def reads(self) -> bool:
        return self.verdict.answer is Answer.READS


def direct_readings(
    features: Sequence[str], facts: VersionFacts
) -> list[DirectReading]:
    """Return, whether each client that opens logs by itself reads a version."""
    return [_reading(client, features, facts) for client in CLIENTS]


def in_words(names: Iterable[str]) -> str:
    """Return names as a sentence has them: `a, b and c`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _reading(
    client: ReadingClient, features: Sequence[str], facts: VersionFacts
) -> DirectReading:
    supports = {name: client.support(name) for name in features}
    verdict = client_verdict(features, supports)
    others = _other_stops(client, facts)
    if others and verdict.answer is not Answer.CANNOT:
        verdict = ClientVerdict(Answer.CANNOT)
    return DirectReading(
        client=client,
        supports=supports,
        verdict=verdict,
        reason=_reason(client, verdict, features, others),
        stopped_by=[
            name for name in features if supports[name].answer is Answer.CANNOT
        ],
    )


def _other_stops(client: ReadingClient, facts: VersionFacts) -> list[str]:
    """Return what besides the names of features stops a client, in words."""
    unread = facts.columns_of(client.unread_types)
    changes = unknown_type_changes(facts.protocol, facts.metadata)
    return [
        *([f"the type of {_columns(unread)}"] if unread else []),
        *([_some(changes)] if changes and client.checks_type_changes else []),
    ]


def _columns(names: Sequence[str]) -> str:
    return f"column{'' if len(names) == 1 else 's'} {_some(names)}"


def _some(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return in_words([*names[:MAX_NAMED], *([f"{more:,} more"] * (more > 0))])


def _reason(
    client: ReadingClient,
    verdict: ClientVerdict,
    features: Sequence[str],
    others: Sequence[str],
) -> str:
    decided_by = describe_feature(verdict.decided_by).in_sentence
    match verdict.answer:
        case Answer.CANNOT:
            return f"stopped by {decided_by if verdict.decided_by else others[0]}"
        case Answer.UNKNOWN:
            return f"{decided_by}: not known"
        case Answer.READS if verdict.release:
            return f"from {client.product} {verdict.release}"
        case Answer.READS if not features:
            return "any release"
        case Answer.READS if client.tried:
            return f"tried: {client.product} {client.tried}"
        case _:
            return "its first release is not known"
