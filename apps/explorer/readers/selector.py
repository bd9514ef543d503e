"""Who can read a version of a table: clients by the features that readers must know."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from apps.explorer.readers.ways_in import WaysIn, ways_in
from apps.explorer.version.indexed import vectors_of, version_facts
from apps.explorer.version.table_version import TableVersion
from deltaweb.delta.features.known.clients import CANNOT, READS, Answer, Support
from deltaweb.delta.features.known.described import describe_feature
from deltaweb.delta.features.known.readings import (
    ClientVerdict,
    client_verdict,
    direct_readings,
)
from deltaweb.delta.features.known.table_features import TableFeature, table_features
from deltaweb.delta.features.known.usage import Usage, VersionFacts
from deltaweb.sharing.clients import (
    ClientReading,
    How,
    client_readings,
    share_support,
)

MAX_COLUMNS: Final = 8  # of the matrix
ORDER: Final = {Answer.READS: 0, Answer.UNKNOWN: 1, Answer.CANNOT: 2}
SHARE_NAMES: Final[Mapping[str, str]] = {
    "pandas": "delta-sharing, Python",
    "Spark": "delta-sharing, Spark",
}
SHARE_ABOUT: Final = {"pandas": "pandas, Polars, DuckDB of a share"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCell:
    """What a client does with one feature; `decides` where its verdict comes from."""

    feature: TableFeature
    support: Support | None  # None: a client of a share is never asked
    decides: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRow:
    """A client, cell by cell, and whether it reads the version."""

    name: str
    about: str
    cells: Sequence[ClientCell]
    verdict: ClientVerdict
    reason: str

    @property
    def answer(self) -> str:
        """`reads`, `cannot` or `not known`."""
        return self.verdict.answer.value

    def describe(self) -> dict[str, object]:
        """Return it as the JSON form shows it."""
        return {
            "client": self.name,
            "about": self.about,
            "answer": self.answer,
            "decided_by": self.verdict.decided_by or None,
            "from_release": self.verdict.release or None,
            "reason": self.reason,
            "features": {
                cell.feature.name: cell.support.text if cell.support else "not asked"
                for cell in self.cells
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Who reads a version."""

    clients: Sequence[ClientRow]
    for_readers: Sequence[TableFeature]
    for_writers: Sequence[TableFeature]
    num_vectors: int | None
    deleted_rows: int | None
    refusal: str
    ways_in: WaysIn | None = None

    @property
    def num_reading(self) -> int:
        return self._count(Answer.READS)

    @property
    def num_unknown(self) -> int:
        return self._count(Answer.UNKNOWN)

    @property
    def num_cannot(self) -> int:
        return self._count(Answer.CANNOT)

    @property
    def num_used(self) -> int:
        return sum(1 for one in self.for_readers if one.usage is Usage.USED)

    @property
    def num_idle(self) -> int:
        return sum(1 for one in self.for_readers if one.is_idle)

    @property
    def columns(self) -> Sequence[TableFeature]:
        return self.for_readers[:MAX_COLUMNS]

    @property
    def stopping(self) -> list[tuple[TableFeature, list[str]]]:
        """The features that are known to stop clients, each with these."""
        found = [(one, self._stopped_by(one)) for one in self.columns]
        return [(one, names) for one, names in found if names]

    @property
    def stops_most(self) -> TableFeature | None:
        """The feature that most clients are known not to read."""
        found = max(self.stopping, key=lambda one: len(one[1]), default=None)
        return None if found is None else found[0]

    @property
    def stopped_by_it(self) -> str:
        """The clients that it stops."""
        most = self.stops_most
        return "" if most is None else ", ".join(self._stopped_by(most))

    def _stopped_by(self, feature: TableFeature) -> list[str]:
        return [
            row.name
            for row in self.clients
            for cell in row.cells
            if cell.feature is feature and cell.support is not None
            if cell.support.answer is Answer.CANNOT
        ]

    def _count(self, answer: Answer) -> int:
        return sum(1 for row in self.clients if row.verdict.answer is answer)


def readers_of(at: TableVersion) -> Readers | None:
    """Return who reads a version; None while nothing is known of its protocol."""
    num_vectors, deleted = vectors_of(at)
    facts = version_facts(at, num_vectors)
    if facts is None or at.protocol is None:
        return None
    features = table_features(facts)
    readers = [feature for feature in features if feature.for_readers]
    rows = [_own_row(readers, at.protocol.unsupported_reason)]
    rows += _direct_rows(readers, facts)
    if facts.schema is not None:
        rows += _share_rows(facts, readers)
    found = Readers(
        clients=sorted(rows, key=lambda row: ORDER[row.verdict.answer]),
        for_readers=readers,
        for_writers=[feature for feature in features if not feature.for_readers],
        num_vectors=num_vectors,
        deleted_rows=deleted,
        refusal=at.protocol.unsupported_reason,
    )
    by_types = any(
        row.verdict.answer is Answer.CANNOT and not row.verdict.decided_by
        for row in found.clients
    )
    return replace(
        found, ways_in=ways_in(at, facts, found.stopping, stopped_by_types=by_types)
    )


def _own_row(readers: Sequence[TableFeature], refusal: str) -> ClientRow:
    supports = {one.name: READS if one.is_read else CANNOT for one in readers}
    verdict = client_verdict(list(supports), supports)
    if refusal and verdict.answer is Answer.READS:
        verdict = ClientVerdict(Answer.CANNOT)
    reason = "this release" if verdict.answer is Answer.READS else refusal
    return _row("deltaweb", "this app", readers, supports, verdict, reason)


def _direct_rows(
    readers: Sequence[TableFeature], facts: VersionFacts
) -> list[ClientRow]:
    return [
        _row(
            reading.client.name,
            reading.client.about,
            readers,
            reading.supports,
            reading.verdict,
            reading.reason,
        )
        for reading in direct_readings([one.name for one in readers], facts)
    ]


def _share_rows(
    facts: VersionFacts, readers: Sequence[TableFeature]
) -> list[ClientRow]:
    if facts.schema is None:
        return []
    vectors = None if facts.num_vectors is None else facts.num_vectors > 0
    found = client_readings(
        facts.protocol, facts.metadata, facts.schema, has_deletion_vectors=vectors
    )
    rows = []
    for reading in found:
        client = reading.client
        if client.through:
            continue
        supports = {
            one.name: share_support(client, one.name)
            if one.name in reading.used
            else None
            for one in readers
        }
        rows.append(
            _row(
                SHARE_NAMES.get(client.name, client.name),
                SHARE_ABOUT.get(client.name, client.about),
                readers,
                supports,
                reading.verdict,
                _share_reason(reading),
            )
        )
    return rows


def _share_reason(reading: ClientReading) -> str:
    if reading.can_read:
        return f"{reading.since}, {reading.response_format} format"
    if reading.how is How.UNKNOWN:
        decided_by = describe_feature(reading.verdict.decided_by)
        return f"{decided_by.in_sentence}: not known"
    return reading.reason


def _row(  # noqa: PLR0913, PLR0917 (a row of a matrix)
    name: str,
    about: str,
    readers: Sequence[TableFeature],
    supports: Mapping[str, Support | None],
    verdict: ClientVerdict,
    reason: str,
) -> ClientRow:
    # Where no release is known, none of the features is what it comes from.
    is_known = verdict.answer is not Answer.READS or bool(verdict.release)
    return ClientRow(
        name=name,
        about=about,
        cells=[
            ClientCell(
                feature=one,
                support=supports[one.name],
                decides=one.name == verdict.decided_by and is_known,
            )
            for one in readers[:MAX_COLUMNS]
        ],
        verdict=verdict,
        reason=reason,
    )
