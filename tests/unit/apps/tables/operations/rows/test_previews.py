"""What a look at a delete or an update keeps of rows: a sample, as text."""

from datetime import UTC, datetime

import pyarrow as pa

from apps.tables.operations.rows.previews import (
    MAX_CELL_LENGTH,
    MAX_COLUMNS,
    preview_rows,
)
from tests.support.tables.table_builder import ROWS, TableBuilder


def test_values_are_text_and_nulls_stay_null() -> None:
    table = TableBuilder().rows(ROWS).build()

    preview = preview_rows(table.plan_update({"n": "n + 1"}, "n = 3"))

    assert preview.counts == {"num_rows": 1, "num_files": 1}
    assert preview.detail().before == (("3", None, "x"),)
    assert preview.detail().after == (("4", None, "x"),)
    assert not preview.is_empty


def test_long_texts_are_cut_and_whole_seconds_end_with_them() -> None:
    moments = [
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        datetime(2026, 1, 2, 3, 4, 5, 670_000, tzinfo=UTC),
    ]
    rows = pa.table({"s": ["a" * 500] * 2, "at": pa.array(moments)})
    table = TableBuilder().rows(rows).build()

    cells = preview_rows(table.plan_delete()).detail().before

    assert cells[0][0] == "a" * (MAX_CELL_LENGTH - 1) + "…"
    assert [row[1] for row in cells] == [
        "2026-01-02 03:04:05Z",
        "2026-01-02 03:04:05.670000Z",
    ]


def test_of_many_columns_those_that_change_are_shown() -> None:
    names = [f"c{number}" for number in range(MAX_COLUMNS + 20)]
    rows = pa.table({name: pa.array([1], pa.int64()) for name in names})
    table = TableBuilder().rows(rows).build()

    detail = preview_rows(table.plan_update({names[-1]: "7"})).detail()

    assert detail.columns == (*names[: MAX_COLUMNS - 1], names[-1])
    assert detail.num_hidden_columns == 20
    assert detail.after is not None
    assert detail.after[0][-1] == "7"


def test_no_row_is_nothing_to_do() -> None:
    table = TableBuilder().rows(ROWS).build()

    assert preview_rows(table.plan_delete("n = 99")).is_empty
