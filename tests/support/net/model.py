"""The rows of a table, and what each change makes of them."""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

Row = dict[str, Any]
Change = tuple[str, Row]
Where = Callable[[Row], bool]
Values = Callable[[Row], Row]


class RowModel:
    """Rows with an `id` each, and the changes of the newest operation.

    Args:
        complete: Returns a row with its generated columns.
    """

    def __init__(self, complete: Values) -> None:
        self.rows: list[Row] = []
        self.changes: list[Change] = []
        self._complete = complete

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows."""
        self.replace(lambda _: False, rows)

    def replace(self, where: Where, rows: Iterable[Row]) -> None:
        """Add rows in the place of those of a condition."""
        new = [self._complete(row) for row in rows]
        self._leave(where)
        self._insert(new)

    def delete(self, where: Where) -> None:
        """Remove the rows of a condition."""
        self._leave(where)

    def update(self, values: Values, where: Where) -> None:
        """Give columns new values in the rows of a condition."""
        self.changes = []
        self.rows = [
            self._updated(row, values(row)) if where(row) else row for row in self.rows
        ]

    def merge(
        self,
        source: Sequence[Row],
        *,
        matched: Callable[[Row, Row], Row | None],
        unmatched: Callable[[Row], Row | None],
        left: Callable[[Row], Row | None],
    ) -> None:
        """Merge rows by their `id`.

        Args:
            matched: Returns the new values of a row, given that of the source too; None
                removes it, and no values leave it alone.
            unmatched: Returns the row to insert for one of the source, None for no row.
            left: As `matched`, for a row that the source does not have.
        """
        self.changes, kept = [], []
        by_id = {row["id"]: row for row in source}
        for row in self.rows:
            other = by_id.pop(row["id"], None)
            values = left(row) if other is None else matched(row, other)
            if values is None:
                self.changes.append(("delete", row))
            else:
                kept.append(self._updated(row, values) if values else row)
        self.rows = kept
        new = [unmatched(row) for row in by_id.values()]
        self._insert(self._complete(row) for row in new if row is not None)

    def restore(self, rows: Sequence[Row]) -> None:
        """Have the rows of an earlier version."""
        deleted, inserted = without(self.rows, rows), without(rows, self.rows)
        self.rows = [*rows]
        self.changes = [
            *(("delete", row) for row in deleted),
            *(("insert", row) for row in inserted),
        ]

    def _leave(self, where: Where) -> None:
        self.changes = [("delete", row) for row in self.rows if where(row)]
        self.rows = [row for row in self.rows if not where(row)]

    def _insert(self, rows: Iterable[Row]) -> None:
        new = deepcopy([*rows])
        self.rows = [*self.rows, *new]
        self.changes += [("insert", row) for row in new]

    def _updated(self, row: Row, values: Row) -> Row:
        new = self._complete({**row, **values})
        self.changes += [("update_preimage", row), ("update_postimage", new)]
        return new


def without(rows: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """Return rows but for those that others are equal to, one for one."""
    left = [plain(row) for row in others]
    found = []
    for row in rows:
        key = plain(row)
        if key in left:
            left.remove(key)
        else:
            found.append(row)
    return found


def plain(value: Any) -> Any:  # noqa: ANN401 (any value of a row)
    """Return a value that is equal to others of the same meaning.

    Instants are in UTC, and the entries of a map in the order of their keys.
    """
    match value:
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC)
        case dict():
            return {name: plain(part) for name, part in value.items()}
        case [tuple(), *_]:
            return sorted((key, plain(part)) for key, part in value)
        case list():
            return [plain(part) for part in value]
        case _:
            return value


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Return rows in an order that does not depend on how they are stored."""
    return sorted(map(plain, rows), key=lambda row: str(sorted(row.items())))
