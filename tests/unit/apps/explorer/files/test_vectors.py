import pyarrow as pa
import pytest

from apps.explorer.files.form import FileFilter
from apps.explorer.files.selector import file_page
from apps.explorer.files.vectors import lens_of
from apps.pages.page_json import json_of
from tests.support import cases

PARTITIONS = pa.map_(pa.string(), pa.string())


def files_of(*rows: tuple[str, int, int | None, int | None]) -> pa.Table:
    """Files of (path, size, live rows, hidden rows)."""
    return pa.table(
        {
            "path": [row[0] for row in rows],
            "size": pa.array([row[1] for row in rows], pa.int64()),
            "modification_time": pa.array([0] * len(rows), pa.int64()),
            "partition_values": pa.array([[]] * len(rows), PARTITIONS),
            "num_records": pa.array([row[2] for row in rows], pa.int64()),
            "deleted_rows": pa.array([row[3] for row in rows], pa.int64()),
        }
    )


FILES = files_of(("a", 1000, 75, 25), ("b", 400, 0, 10), ("c", 500, 90, 0))


class TestLens:
    def test_adds_up_what_vectors_hide(self) -> None:
        lens = lens_of(FILES)

        assert lens is not None
        assert (lens.num_files, lens.dead_rows) == (2, 35)
        assert (lens.rows_of_files, lens.rows_of_all) == (110, 200)
        assert lens.percent_dead == 17.5
        assert lens.percent_of_files == pytest.approx(31.8, abs=0.1)

    def test_estimates_what_a_purge_saves_by_the_share_of_dead_rows(self) -> None:
        lens = lens_of(FILES)

        assert lens is not None
        assert (lens.rewritten_bytes, lens.saved_bytes) == (1400, 250 + 400)

    def test_leaves_out_files_that_do_not_tell_their_rows(self) -> None:
        lens = lens_of(files_of(("a", 1000, None, 25), ("b", 8, 1, None)))

        assert lens is not None
        assert (lens.num_files, lens.num_without_rows, lens.saved_bytes) == (2, 2, 0)
        assert (lens.dead_rows, lens.percent_of_files) == (25, None)

    @cases(
        "files",
        {
            "no file has a vector": files_of(("a", 1, 1, 0)),
            "there is no file": files_of(),
            "an older index": FILES.drop_columns(["deleted_rows"]),
        },
    )
    def test_is_nothing_without_vectors(self, files: pa.Table) -> None:
        assert lens_of(files) is None

    def test_names_what_is_estimated_in_json(self) -> None:
        described = json_of(lens_of(FILES))

        assert isinstance(described, dict)
        assert described["purge_saves_bytes_estimated"] == 650
        assert described["percent_dead"] == 17.5


class TestList:
    @pytest.mark.parametrize(
        ("has_vector", "expected"), [(True, ["a", "b"]), (False, ["c"])]
    )
    def test_is_filtered_by_vectors(self, *, has_vector: bool, expected: list[str]):
        wanted = FileFilter(has_vector=has_vector)

        assert [file.path for file in file_page(FILES, wanted, []).files] == expected

    def test_is_sorted_by_rows_that_are_masked(self) -> None:
        page = file_page(FILES, FileFilter(sort="-masked"), [])

        assert [file.path for file in page.files] == ["a", "b", "c"]
        assert [file.masked_percent for file in page.files] == [25, 100, 0]

    def test_an_index_without_vectors_has_none(self) -> None:
        older = FILES.drop_columns(["deleted_rows"])

        assert file_page(older, FileFilter(has_vector=True), []).files == []
        page = file_page(older, FileFilter(has_vector=False, sort="-masked"), [])
        assert [file.path for file in page.files] == ["c", "b", "a"]
