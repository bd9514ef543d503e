from datetime import UTC

import pyarrow as pa

from deltaweb.web.explorer.compare.rows import (
    FIRST_ROWS,
    MAX_COLUMNS,
    row_changes_page,
    sample_objects,
)
from deltaweb.web.pages.paging import PAGE_LENGTH

KINDS = ("update_preimage", "update_postimage", "insert", "delete")


def page_of(num_rows: int, *, num_columns: int = 2, kind: str = "", page: int = 1):
    """A page of a sample with so many changes of each kind; the last cell changed."""
    kinds = [kind for kind in KINDS for _ in range(num_rows)]
    names = [f"c{number}" for number in range(num_columns)]
    changed = [names[-1:] if kind.startswith("update") else None for kind in kinds]
    values = {name: range(len(kinds)) for name in names}
    sample = pa.table({"kind": kinds, "changed": changed, **values})
    facts = {"inserted": 1_000, "deleted": num_rows, "updated": num_rows, "key": ["c1"]}
    return row_changes_page(sample, facts, kind=kind, page=page, zone=UTC)


class TestRowChangesPage:
    def test_shows_the_first_of_each_kind_side_by_side(self) -> None:
        found = page_of(FIRST_ROWS + 5)

        kinds = [row.kind for row in found.rows]
        assert kinds == (
            ["updated"] * FIRST_ROWS
            + ["inserted"] * FIRST_ROWS
            + ["deleted"] * FIRST_ROWS
        )
        assert found.is_sample
        assert (found.paged.page, found.paged.num_pages) == (1, 1)

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
