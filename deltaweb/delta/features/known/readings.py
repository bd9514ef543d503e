"""The clients that read a version by themselves, and why others do not.

A client refuses a table by the names in its protocol: a feature that is allowed and
unused counts like any other. Pages and the code that they give people both use this.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.known.clients import (
    LOG,
    Answer,
    KnownClient,
    Support,
    clients_of,
    readers_elsewhere,
)
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.features.type_widening import unknown_type_changes

MAX_NAMED: Final = 3
_NUMBER: Final = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class ClientVerdict:
    """Whether a client reads a table.

    Attributes:
        decided_by: The feature that decides; "" where none does.
        release: The first release that reads the table; "" where that is not known,
            or where any does.
    """

    answer: Answer
    decided_by: str = ""
    release: str = ""


def client_verdict(
    features: Sequence[str], supports: Mapping[str, Support]
) -> ClientVerdict:
    """Return whether a client reads a table with these features."""
    for answer in (Answer.CANNOT, Answer.UNKNOWN):
        for name in features:
            if supports[name].answer is answer:
                return ClientVerdict(answer, name)
    if undated := next((name for name in features if not supports[name].release), ""):
        return ClientVerdict(Answer.READS, undated)
    newest = max(
        features, key=lambda name: release_order(supports[name].release), default=""
    )
    return ClientVerdict(
        Answer.READS, newest, supports[newest].release if newest else ""
    )


def release_order(release: str) -> tuple[int, ...]:
    """Return the numbers of a release, which order it among others."""
    return tuple(int(number) for number in _NUMBER.findall(release))


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectReading:
    """Whether a client that opens a table's log by itself reads a version.

    Attributes:
        supports: What it does with each feature that a reader must know.
    """

    client: KnownClient
    supports: Mapping[str, Support]
    verdict: ClientVerdict
    reason: str

    @property
    def reads(self) -> bool:
        return self.verdict.answer is Answer.READS

    @property
    def stopped_by(self) -> list[str]:
        """The features that it is known not to read."""
        return [
            name for name, one in self.supports.items() if one.answer is Answer.CANNOT
        ]


def direct_readings(
    features: Sequence[str], facts: VersionFacts
) -> list[DirectReading]:
    """Return whether each client that opens logs by itself reads a version."""
    return [_reading(client, features, facts) for client in clients_of(LOG)]


def in_words(names: Iterable[str]) -> str:
    """Return names as a sentence has them: `a, b and c`."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


@dataclass(frozen=True, slots=True)
class FeatureReaders:
    """A feature that is not read here, and the clients that are known to read it."""

    feature: str
    clients: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Readers: `Delta Lake 1.2 and later on Spark and DuckDB read it`."""
        if not self.clients:
            return "the engine that wrote it reads it, other clients may not"
        return f"{in_words(self.clients)} read it"


def feature_readers(features: Iterable[str]) -> list[FeatureReaders]:
    """Return who reads each of some features."""
    return [FeatureReaders(name, readers_elsewhere(name)) for name in features]


def _reading(
    client: KnownClient, features: Sequence[str], facts: VersionFacts
) -> DirectReading:
    supports = {name: client.support(name) for name in features}
    verdict = client_verdict(features, supports)
    others = _other_stops(client, facts)
    if others and verdict.answer is not Answer.CANNOT:
        verdict = ClientVerdict(Answer.CANNOT)
    reason = _reason(client, verdict, features, others)
    return DirectReading(
        client=client, supports=supports, verdict=verdict, reason=reason
    )


def _other_stops(client: KnownClient, facts: VersionFacts) -> list[str]:
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
    client: KnownClient,
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
