"""The rows of updates that are matched, and those that are left alone."""

from typing import Any

import pyarrow as pa

from apps.sharing.answers.changed_rows import with_values_before
from apps.sharing.portal.cells import changed_cells_of
from tests.support import cases

BEFORE, AFTER = "update_preimage", "update_postimage"
NAMES = ["_change_type", "_commit_version", "id", "name", "rank"]


def feed(*rows: tuple[Any, ...]) -> pa.Table:
    """Changed rows: kind, version, id, name, rank."""
    columns: list[list[Any]] = [list(column) for column in zip(*rows, strict=True)]
    kinds = [pa.string(), pa.int64(), pa.int64(), pa.string(), pa.int64()]
    arrays = [
        pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)
    ]
    return pa.table(arrays, names=NAMES)


def shown(table: pa.Table, *, hidden: bool = False) -> list[tuple[Any, ...]]:
    """The kind of each row, its id, and what its cells were before."""
    found = with_values_before(table, "before", are_some_hidden=hidden)
    return [
        (line[0].text, line[2].text, *(c.before and c.before.text for c in line[2:]))
        for line in changed_cells_of(found, NAMES)
    ]


def test_an_update_is_one_row_with_its_values_before() -> None:
    rows = feed(
        ("insert", 3, 9, "new", 1),
        (BEFORE, 2, 1, "a", 1),
        (AFTER, 2, 1, "b", 1),
        ("delete", 2, 8, "old", 1),
    )

    assert shown(rows) == [
        ("insert", "9", None, None, None),
        ("update", "1", None, "a", None),
        ("delete", "8", None, None, None),
    ]


def test_the_rows_of_an_update_may_be_apart() -> None:
    rows = feed(
        (AFTER, 2, 1, "b", 1),
        (AFTER, 2, 2, "d", 2),
        (BEFORE, 2, 2, "c", 2),
        (BEFORE, 2, 1, "a", 1),
    )

    assert shown(rows) == [
        ("update", "1", None, "a", None),
        ("update", "2", None, "c", None),
    ]


def test_updates_of_two_versions_are_not_mixed() -> None:
    rows = feed(
        (BEFORE, 3, 1, "b", 1),
        (AFTER, 3, 1, "c", 1),
        (BEFORE, 2, 1, "a", 1),
        (AFTER, 2, 1, "b", 1),
    )

    assert shown(rows) == [
        ("update", "1", None, "b", None),
        ("update", "1", None, "a", None),
    ]


def test_a_key_of_two_rows_matches_neither() -> None:
    rows = feed(
        (BEFORE, 2, 1, "a", 5),
        (BEFORE, 2, 1, "a", 5),
        (AFTER, 2, 1, "b", 5),
        (AFTER, 2, 1, "b", 5),
    )

    assert [row[0] for row in shown(rows)] == [BEFORE, BEFORE, AFTER, AFTER]


def test_two_rows_are_one_update_where_nothing_is_hidden() -> None:
    rows = feed((BEFORE, 2, 1, "a", 1), (AFTER, 2, 2, "a", 2))

    assert shown(rows) == [("update", "2", "1", None, "1")]


def test_two_rows_may_be_of_two_updates_where_some_are_hidden() -> None:
    rows = feed((BEFORE, 2, 1, "a", 1), (AFTER, 2, 2, "a", 2))

    assert shown(rows, hidden=True) == [
        (BEFORE, "1", None, None, None),
        (AFTER, "2", None, None, None),
    ]


@cases(
    "before, after, expected",
    {
        "NULL to a text": (None, "b", [None]),
        "a text to NULL": ("a", None, ["a"]),
        "an empty text": ("", "b", [""]),
    },
)
def test_values_before_may_be_missing(
    before: str | None, after: str | None, expected: list[str | None]
) -> None:
    rows = feed((BEFORE, 2, 1, before, 1), (AFTER, 2, 1, after, 1))
    found = with_values_before(rows, "before", are_some_hidden=False)

    (line,) = changed_cells_of(found, NAMES)

    cell = line[3].before
    assert cell is not None
    assert [cell.text] == expected


def test_rows_without_updates_have_an_empty_last_column() -> None:
    rows = feed(("insert", 1, 1, "a", 1))

    found = with_values_before(rows, "before", are_some_hidden=False)

    assert found.column_names == [*NAMES, "before"]
    assert found["before"].null_count == 1
    assert len(changed_cells_of(found.slice(0, 0), NAMES)) == 0
