"""One of the two versions of a comparison, and whether it can still be read."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from apps.explorer.version.table_version import TableVersion
from apps.tables.models import Commit, MetadataVersion, ProtocolVersion
from apps.tables.versions.readable import names_of_runs, neighbours, parse_runs
from deltaweb.delta.log.versions import OF_FILES, ReadableRun

STATES: Final = (
    Commit.Readability.READABLE,
    Commit.Readability.PARTLY,
    Commit.Readability.UNSUPPORTED,
    Commit.Readability.FILES_GONE,
    Commit.Readability.GONE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedVersion:
    """One of the two versions, as far as it is indexed."""

    version: int
    commit: Commit | None
    metadata: MetadataVersion | None
    protocol: ProtocolVersion | None
    run: ReadableRun | None

    @property
    def state(self) -> str:
        """Whether it can still be read, as `Commit.Readability` says it."""
        return self.run.state if self.run else Commit.Readability.READABLE

    @property
    def is_partly(self) -> bool:
        """Whether some of its files are deleted, or all, as far as is known."""
        return self.state in OF_FILES

    @property
    def unreadable_reason(self) -> str:
        """Why its files and rows cannot be read, or nothing."""
        if self.protocol is not None and self.protocol.unsupported_reason:
            return self.protocol.unsupported_reason
        if self.run is None or self.state != Commit.Readability.GONE:
            return ""
        return f"the log no longer lists its files. {self.run.reason}".strip()

    @property
    def state_reason(self) -> str:
        """Why it is not readable in full, or nothing."""
        return self.unreadable_reason or (self.run.reason if self.run else "")

    def describe(self) -> dict[str, str | None]:
        """Return what the JSON form says of whether it can be read."""
        return {"state": self.state, "reason": self.state_reason or None}


class VersionsOfState(NamedTuple):
    """Versions that can be read alike, named: "v0 to v4 and v7"."""

    state: str
    versions: str


def compared_version(at: TableVersion, version: int) -> ComparedVersion:
    """Return a version of the table that `at` shows, as far as it is indexed."""
    table = at.table
    holding = (run for run in _runs(at) if run.first <= version <= run.last)
    is_shown = version == at.version
    return ComparedVersion(
        version=version,
        commit=at.commit if is_shown else table.commits.filter(version=version).first(),
        metadata=at.metadata
        if is_shown
        else table.metadata_versions.filter(version__lte=version).first(),
        protocol=at.protocol
        if is_shown
        else table.protocol_versions.filter(version__lte=version).first(),
        run=next(holding, None),
    )


def versions_by_state(at: TableVersion) -> list[VersionsOfState]:
    """Return which versions can be chosen for what; none where all can be read."""
    runs = _runs(at)
    if all(run.state == Commit.Readability.READABLE for run in runs):
        return []
    found = [
        (state, neighbours(run for run in runs if run.state == state))
        for state in STATES
    ]
    return [
        VersionsOfState(state, names_of_runs(some)) for state, some in found if some
    ]


def _runs(at: TableVersion) -> list[ReadableRun]:
    return parse_runs(at.table.summary.get("readable_runs"))
