"""From which version on one schema shows all changes, as far as it is indexed."""

from dataclasses import dataclass

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.features.column_mapping import has_mapped_columns
from deltaweb.delta.feed.errors import FeedSchemaError
from deltaweb.delta.feed.row_schema import feed_schema
from deltaweb.delta.snapshot.state import Definition
from deltaweb.web.tables.models import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """Why changes of earlier versions are not shown beside later ones.

    Attributes:
        fits_from: The version from which on one schema shows them.
        reason: What is otherwise before, in words.
    """

    fits_from: int
    reason: str


def schema_misfit(table: Table, first: int, last: int) -> Misfit | None:
    """Return what keeps the changes of a range from one schema; None where nothing.

    None, too, where no part of the range up to its end can be shown: the job that
    reads it says why.

    Args:
        table: The table.
        first: The first version of the range.
        last: The last one.
    """
    try:
        held = _definitions(table, first, last)
        if len(held) > 1:
            feed_schema(table.location, _shown(table, held[-1]), held)
    except FeedSchemaError as error:
        if error.fits_from is not None and error.fits_from > first:
            begin = _first_without_older_rows(table, error.fits_from, last)
            return Misfit(fits_from=begin, reason=error.reason)
    except DeltaError:  # a schema that is not known here, or is none
        pass
    return None


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
