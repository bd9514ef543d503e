"""A table at the version that the address asks for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponseBase

from apps.accounts.models import User
from apps.tables.head.finding import get_table, requested_version
from apps.tables.head.shapes import names_of
from apps.tables.head.table_head import TableHead, table_head
from apps.tables.models import Commit, MetadataVersion, ProtocolVersion, Table
from apps.tables.versions.resources import times_note, times_of
from apps.tables.versions.timeline import Run
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.features.in_commit_timestamps import OwnTimes, own_times_of
from deltaweb.delta.protocol.schema import StructType


@dataclass(frozen=True, slots=True, kw_only=True)
class TableVersion:
    """One version of a table: what holds there, as far as it is indexed.

    Everything but the table and its head is None while nothing is indexed.
    """

    table: Table
    head: TableHead
    version: int | None
    metadata: MetadataVersion | None
    protocol: ProtocolVersion | None

    @property
    def commit(self) -> Commit | None:
        return self.head.commit

    @property
    def num_records(self) -> int | None:
        """How many rows it has, as its log says; None where that is not known."""
        if self.is_latest:
            return self.table.num_records
        return self.commit.num_records if self.commit else None

    @property
    def is_latest(self) -> bool:
        return self.head.is_latest

    @property
    def is_indexed(self) -> bool:
        return self.version is not None

    @property
    def pin(self) -> str:
        """The query string that keeps an older version when a link is followed."""
        return "" if self.is_latest else f"?v={self.version}"

    @property
    def state(self) -> str:
        """Whether it can be read, as `Commit.Readability` says it."""
        run = self.head.timeline.shown_run if self.head.timeline else None
        return Commit.Readability.READABLE if run is None else run.state

    @property
    def is_gone(self) -> bool:
        return self.state in {Commit.Readability.GONE, Commit.Readability.FILES_GONE}

    @property
    def unlisted_reason(self) -> str:
        """Why nobody can say which files this version had, or nothing."""
        if self.state != Commit.Readability.GONE or self.head.timeline is None:
            return ""
        known = f"The log no longer lists the files of version {self.version}."
        return f"{known} {self.head.timeline.shown_run.reason}".strip()

    @property
    def unreadable_reason(self) -> str:
        """Why the rows of this version cannot be read, or nothing.

        A version of which only some files are gone is still worth a try.
        """
        if self.protocol and self.protocol.unsupported_reason:
            return self.protocol.unsupported_reason
        if self.state == Commit.Readability.FILES_GONE and self.head.timeline:
            return self.head.timeline.shown_run.reason
        return self.unlisted_reason

    @property
    def times_note(self) -> str:
        """Whose times the history up to this version shows."""
        return times_note(self._own_times)

    @property
    def times_of(self) -> str:
        """Whose time that of this version is."""
        return times_of(self._own_times, self.version or 0)

    @property
    def _own_times(self) -> OwnTimes | None:
        if self.protocol is None or self.metadata is None:
            return None
        features = self.protocol.writer_features or ()
        return own_times_of(features, self.metadata.configuration)

    @property
    def clustering_columns(self) -> list[str]:
        """By which columns files are laid out; only the newest version tells."""
        return self.table.summary.get("clustering", []) if self.is_latest else []

    @property
    def domains(self) -> dict[str, str]:
        """The table's metadata by domain; only the newest version tells."""
        return self.table.summary.get("domains", {}) if self.is_latest else {}

    @property
    def readable_runs(self) -> list[Run]:
        """The runs of versions that can be read in full, ascending."""
        runs = self.head.timeline.runs if self.head.timeline else ()
        return [run for run in runs if run.state == Commit.Readability.READABLE]

    @property
    def nearest_older(self) -> int | None:
        """The newest version before this one that can be read."""
        shown = self.version or 0
        ends = (min(run.last, shown - 1) for run in self.readable_runs)
        starts = (run.first for run in self.readable_runs)
        return max(
            (end for first, end in zip(starts, ends, strict=True) if first <= end),
            default=None,
        )

    @property
    def nearest_newer(self) -> int | None:
        """The oldest version after this one that can be read."""
        shown = self.version or 0
        after = [run.first for run in self.readable_runs if run.first > shown]
        return min(after, default=None)

    @property
    def nearest_readable(self) -> int | None:
        """The newest version before this one that can be read, or the first after."""
        older = self.nearest_older
        return self.nearest_newer if older is None else older

    def describe(self) -> dict[str, object]:
        """Return what the JSON form of every table page starts with."""
        committed_at = self.commit.committed_at if self.commit else None
        return {
            **names_of(self.table),
            "version": self.version,
            "timestamp": committed_at,
            "probed_at": self.table.probed_at,
            "readability": None if self.version is None else self.state,
            "files_present": self.head.missing.describe()
            if self.head.missing
            else None,
        }


def table_version(
    user: User | AnonymousUser, namespace: str, name: str, version: str = ""
) -> TableVersion:
    """Return a table at `version`, or at its newest one for ""."""
    table = get_table(user, namespace, name)
    shown = requested_version(table, version)
    head = table_head(table, shown)
    if shown is None:
        return TableVersion(
            table=table, head=head, version=None, metadata=None, protocol=None
        )
    return TableVersion(
        table=table,
        head=head,
        version=shown,
        metadata=table.metadata_versions.filter(version__lte=shown).first(),
        protocol=table.protocol_versions.filter(version__lte=shown).first(),
    )


def at_version(
    view: Callable[..., HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Return a view of an address of a table, of one of a table at a version, `at`."""

    @wraps(view)
    def opened(
        request: HttpRequest, namespace: str, name: str, **parts: object
    ) -> HttpResponseBase:
        at = table_version(request.user, namespace, name, request.GET.get("v", ""))
        return view(request, at=at, **parts)

    return opened


def table_columns(at: TableVersion) -> StructType | None:
    """Return the columns of a version; None if unknown."""
    if at.metadata is None:
        return None
    try:
        return at.metadata.mapped_schema(at.protocol)
    except SchemaError:
        return None
