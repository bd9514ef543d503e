import math
from datetime import UTC
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from apps.explorer.compare.rows import (
    MAX_COLUMNS,
    RowChangesPage,
    row_changes_page,
    sample_objects,
)
from apps.pages.lists.paging import PAGE_LENGTH
from apps.tables.work.diff_rows import RowDiff

KINDS = ("update_preimage", "update_postimage", "insert", "delete")


def row_diff(**counts: Any) -> RowDiff:  # noqa: ANN401 (fields of the result)
    """The result of a comparison with some counts."""
    return RowDiff(
        files_read=1,
        rows_read=1,
        columns_only_in_from=(),
        columns_only_in_to=(),
        columns_as_text=(),
        column_types={},
        download_bytes=1,
        skipped_files=0,
        **counts,
    )


def page_of(num_rows: int, *, num_columns: int = 2, kind: str = "", page: int = 1):
    """A page of a sample with so many changes of each kind; the last cell changed."""
    kinds = [kind for kind in KINDS for _ in range(num_rows)]
    names = [f"c{number}" for number in range(num_columns)]
    changed = [names[-1:] if kind.startswith("update") else None for kind in kinds]
    values = {name: range(len(kinds)) for name in names}
    sample = pa.table({"kind": kinds, "changed": changed, **values})
    facts = row_diff(inserted=1_000, deleted=num_rows, updated=num_rows, key=("c1",))
    return row_changes_page(sample, facts, kind=kind, page=page, zone=UTC)


class TestRowChangesPage:
    def test_pages_through_every_row_kind_by_kind(self) -> None:
        pages = [page_of(25, page=number) for number in (1, 2)]

        kinds = [row.kind for found in pages for row in found.rows]
        assert kinds == ["updated"] * 25 + ["inserted"] * 25 + ["deleted"] * 25
        assert pages[0].is_sample  # of 1,000 inserted rows
        assert pages[0].paged.num_pages == 2

    def test_pages_through_the_file_of_all_rows(self, tmp_path: Path) -> None:
        path = tmp_path / "all.parquet"
        rows: list[tuple[str, int, float | None]] = [
            ("insert", n, float(n)) for n in range(60)
        ]
        for n in range(60, 130):
            after = math.nan if n == 100 else n + 0.5
            rows += [("update_preimage", n, math.nan if n == 100 else float(n))]
            rows += [("update_postimage", n, after)]
        rows += [("delete", n, None) for n in range(130, 150)]
        table = pa.Table.from_pylist(
            [{"_change_type": kind, "id": n, "x": x} for kind, n, x in rows]
        )
        pq.write_table(table, path, row_group_size=17)
        facts = row_diff(inserted=60, deleted=20, updated=70, key=("id",))

        def page(number: int, kind: str = "") -> RowChangesPage:
            return row_changes_page(
                pa.table({"kind": [], "changed": [], "id": [], "x": []}),
                facts,
                kind=kind,
                page=number,
                zone=UTC,
                path=path,
            )

        pages = [page(number) for number in (1, 2, 3)]
        ids = [int(row.cells[0].after.text) for one in pages for row in one.rows]
        assert ids == [*range(60, 130), *range(60), *range(130, 150)]
        assert [one.paged.num_pages for one in pages] == [3, 3, 3]
        assert not pages[0].is_sample
        first = pages[0].rows[0]
        assert first.cells[0].before is None
        assert first.cells[1].before is not None
        assert (first.cells[1].before.text, first.cells[1].after.text) == (
            "60.0",
            "60.5",
        )
        unchanged = pages[0].rows[40]
        assert unchanged.cells[1].before is None  # NaN before and after
        assert [row.kind for row in page(2, "inserted").rows] == ["inserted"] * 10

    def test_shows_a_kind_page_by_page(self) -> None:
        found = page_of(PAGE_LENGTH + 5, kind="deleted", page=2)

        assert [row.kind for row in found.rows] == ["deleted"] * 5
        assert found.rows[0].cells[0].after.text == f"{3 * 55 + PAGE_LENGTH}"
        assert (found.paged.previous_page, found.paged.next_page) == (1, None)

    def test_a_page_beyond_the_last_is_the_last(self) -> None:
        assert page_of(3, kind="inserted", page=9).paged.page == 1

    def test_of_a_wide_table_key_and_changed_columns_are_shown(self) -> None:
        found = page_of(1, num_columns=MAX_COLUMNS + 40)

        names = [column.name for column in found.columns]
        assert len(names) == len(found.rows[0].cells) == MAX_COLUMNS
        assert names[:2] == ["c0", "c1"]
        assert names[-1] == f"c{MAX_COLUMNS + 39}"
        assert found.num_hidden_columns == 40
        assert found.rows[0].cells[-1].before is not None


class TestSampleObjects:
    def test_long_values_are_cut_and_that_is_told(self) -> None:
        sample = pa.table(
            {"kind": ["insert"], "changed": [None], "note": ["x" * 5_000_000]}
        )

        found, is_cut = sample_objects(sample)

        assert is_cut
        assert len(found["inserted"][0]["note"]) == 4_000_000

    def test_others_are_whole(self) -> None:
        sample = pa.table({"kind": ["delete"], "changed": [None], "note": ["x"]})

        assert sample_objects(sample)[0]["deleted"] == [{"note": "x"}]
        assert not sample_objects(sample)[1]
