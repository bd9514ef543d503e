"""The versions whose changes a page shows, and whether they were recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from apps.explorer.changes.form import ChangeQuery, End
from apps.explorer.version.table_version import TableVersion
from apps.pages.errors import PageError
from apps.tables.models import Commit, Table
from apps.tables.versions.readable import names_of_runs, neighbours
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import has_mapped_columns
from deltaweb.delta.feed.errors import FeedSchemaError
from deltaweb.delta.feed.row_schema import feed_schema
from deltaweb.delta.feed.versions import is_feed_on
from deltaweb.delta.log.versions import ReadableRun
from deltaweb.delta.snapshot.state import Definition


def schema_misfit(table: Table, first: int, last: int) -> tuple[int, str]:
    """Return the version from which on one schema shows a range, and why no earlier.

    The first and nothing where all do, or where no part of the range up to its end can
    be shown: the job that reads it says why.
    """
    try:
        held = _definitions(table, first, last)
        if len(held) > 1:
            feed_schema(table.location, _shown(table, held[-1]), held)
    except FeedSchemaError as error:
        if error.fits_from is not None and error.fits_from > first:
            begin = _first_without_older_rows(table, error.fits_from, last)
            return begin, error.reason
    except DeltaError:  # a schema that is not known here, or is none
        pass
    return first, ""


def _first_without_older_rows(table: Table, version: int, last: int) -> int:
    """Return the first version whose changes are rows of the new schema alone.

    The commit that changes the schema may remove files that were written by the old
    one, as an overwrite does: its deletes are rows of that.
    """
    commit = table.commits.filter(version=version).first()
    removes = commit is not None and commit.num_removed_files > 0
    return version + 1 if removes and version < last else version


def _definitions(table: Table, first: int, last: int) -> list[Definition]:
    """Return what holds at the first version, and at each that changes it."""
    upto = {"version__lte": last}
    metadata = {
        row.version: row
        for row in table.metadata_versions.filter(**upto).order_by("version")
    }
    protocols = {
        row.version: row
        for row in table.protocol_versions.filter(**upto).order_by("version")
    }
    found: list[Definition] = []
    now, rules = None, None
    for version in sorted({*metadata, *protocols}):
        now = metadata.get(version, now)
        rules = protocols.get(version, rules)
        if now is None or rules is None:
            continue
        at = Definition(max(version, first), rules.as_action(), now.as_action())
        if version <= first:
            found.clear()
        found.append(at)
    return found


def _shown(table: Table, end: Definition) -> Definition:
    """Return what holds where the schema is taken from: as `shown_definition` does."""
    if has_mapped_columns(end.protocol, end.metadata) or table.version is None:
        return end
    newest = _definitions(table, table.version, table.version)
    if not newest or has_mapped_columns(newest[-1].protocol, newest[-1].metadata):
        return end
    return newest[-1]


FIRST_SHOWN: Final = 10  # versions of a page that asks for none


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSpan:
    """A range of versions.

    Attributes:
        first, last: Both included.
        off: Runs of versions in it at which the table does not record its changes.
        gone: Versions of it whose commit the log no longer holds.
        nearest: The newest run of versions up to the last that records changes, as far
            as the log reaches; None where there is none.
        ends: The commits of the first and the last version, as far as known.
        misfit: Why it begins no earlier; "" where it is as long as pages show.
    """

    first: int
    last: int
    off: Sequence[ReadableRun]
    gone: Sequence[ReadableRun]
    nearest: ReadableRun | None
    ends: tuple[Commit | None, Commit | None]
    misfit: str = ""

    @property
    def num_versions(self) -> int:
        return self.last - self.first + 1

    @property
    def problem(self) -> str:
        """Why its changes cannot be read, in a sentence; nothing where they may be."""
        if self.first > self.last:
            return f"v{self.first} is after v{self.last}: the range has no version."
        if self.gone:
            are = "is" if self.gone[0].first == self.gone[0].last else "are"
            why = f"{are} no longer in the log, so what they changed is unknown."
            return f"{names_of_runs(self.gone)} {why}"
        if self.off:
            at = names_of_runs(self.off)
            return f"The change data feed is off at {at}: no change was recorded there."
        return ""


def change_span(at: TableVersion, query: ChangeQuery) -> ChangeSpan | None:
    """Return the range that a page asks for; None while nothing is indexed."""
    if at.version is None:
        return None
    table = at.table
    last = _version(table, query.last, at.version, is_first=False)
    on = _runs_with_feed(table, last)
    kept = table.commits.filter(is_archived=False)
    oldest = kept.order_by("version").values_list("version", flat=True).first()
    oldest = last if oldest is None else oldest
    nearest = next((run for run in reversed(on) if run.last >= oldest), None)
    first = min(last, max(oldest, last - FIRST_SHOWN + 1))
    if nearest is not None:
        nearest = nearest._replace(first=max(nearest.first, oldest))
        first = max(first, nearest.first) if nearest.last == last else first
    misfit = ""
    if query.first is None:
        first, misfit = schema_misfit(table, first, last)
    first = _version(table, query.first, first, is_first=True)
    ends = {
        commit.version: commit
        for commit in table.commits.filter(version__in=(first, last)).defer(
            "parameters", "metrics"
        )
    }
    return ChangeSpan(
        first=first,
        last=last,
        off=_without(on, first, last),
        gone=[ReadableRun(first, min(last, oldest - 1), "")] if first < oldest else [],
        nearest=nearest,
        ends=(ends.get(first), ends.get(last)),
        misfit=misfit,
    )


def _version(table: Table, end: End, default: int, *, is_first: bool) -> int:
    if end is None:
        return default
    newest = table.version or 0
    if isinstance(end, datetime):
        commits = table.commits.order_by("version" if is_first else "-version")
        near = (
            commits.filter(committed_at__gte=end)
            if is_first
            else commits.filter(committed_at__lte=end)
        )
        found = near.values_list("version", flat=True).first()
        if found is not None:
            return int(found)
        side = "at or after" if is_first else "at or before"
        raise PageError(
            status=404,
            code="version-not-found",
            message=f"No version was made {side} {end.isoformat(sep=' ')}.",
            hint=f"The newest version is {newest}.",
        )
    if end > newest:
        raise PageError(
            status=404,
            code="version-not-found",
            message=f"{table.full_name} has no version {end}.",
            hint=f"The newest version is {newest}.",
        )
    return end


def _runs_with_feed(table: Table, last: int) -> list[ReadableRun]:
    """Return the runs of versions at which the table records its changes."""
    rows = table.metadata_versions.filter(version__lte=last).order_by("version")
    definitions = list(rows.values_list("version", "configuration"))
    ends = [version - 1 for version, _ in definitions[1:]] + [last]
    return neighbours(
        ReadableRun(start, end, "")
        # Of versions before the log none is known.
        for (start, configuration), end in zip(definitions, ends, strict=False)
        if is_feed_on(configuration or {})
    )


def _without(runs: Sequence[ReadableRun], first: int, last: int) -> list[ReadableRun]:
    """Return the parts of a range that no run covers."""
    found, start = [], first
    for run in runs:
        if run.first > start:
            found.append(ReadableRun(start, min(run.first - 1, last), ""))
        start = max(start, run.last + 1)
    if start <= last:
        found.append(ReadableRun(start, last, ""))
    return [run for run in found if run.first <= run.last]
