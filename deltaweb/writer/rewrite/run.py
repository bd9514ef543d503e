"""Deletes and updates of rows, and what they would do."""

from collections.abc import Mapping
from dataclasses import dataclass

from deltaweb.delta.log.store import TableStore
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import load_state
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.writing.requirements import check_writable
from deltaweb.writer.rewrite.engine import RewriteHere
from deltaweb.writer.rewrite.plan import Rewrite
from deltaweb.writer.rewrite.row_changes import RowChange, RowDeletion, RowUpdate


def read_for_rewrite(store: TableStore, operation: str) -> Snapshot:
    """Return the newest version of a table whose rows may be changed or removed."""
    state = load_state(store, None)
    check_writable(
        state.definition, root=store.root, operation=operation, removes_rows=True
    )
    return Snapshot(store, state)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsAsked:
    """A delete or an update as it is asked of either engine.

    Attributes:
        where: The condition in SQL; None for every row.
        assignments: The SQL of new values by the column's name; None where rows go.
        time_zone: Whose clocks show the times without a zone in all of these.
    """

    where: str | None = None
    assignments: Mapping[str, str] | None = None
    time_zone: str = UTC_ZONE

    def read(self, store: TableStore) -> Snapshot:
        """Return the newest version, which takes such a change."""
        kind = RowDeletion if self.assignments is None else RowUpdate
        return read_for_rewrite(store, kind.operation)

    def here(self, store: TableStore, snapshot: Snapshot) -> Rewrite:
        """Return it as this process does it."""
        change: RowChange = RowDeletion()
        if self.assignments is not None:
            change = RowUpdate(
                self.assignments, snapshot.schema, snapshot.metadata, self.time_zone
            )
        engine = RewriteHere(store, snapshot, change, self.time_zone)
        return Rewrite(store, snapshot, change, self.where, engine)


def deletion(
    store: TableStore, where: str | None = None, *, time_zone: str = UTC_ZONE
) -> Rewrite:
    """Return the removal of the rows that a condition is true for; all for None."""
    asked = RowsAsked(where=where, time_zone=time_zone)
    return asked.here(store, asked.read(store))


def update(
    store: TableStore,
    assignments: Mapping[str, str],
    where: str | None = None,
    *,
    time_zone: str = UTC_ZONE,
) -> Rewrite:
    """Return the change of the rows that a condition is true for; all for None."""
    asked = RowsAsked(where=where, assignments=assignments, time_zone=time_zone)
    return asked.here(store, asked.read(store))
