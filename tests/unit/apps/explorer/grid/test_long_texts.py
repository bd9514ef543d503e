import pyarrow as pa

from deltaweb.web.explorer.files.form import FileFilter
from deltaweb.web.explorer.files.selector import file_page, file_rows
from deltaweb.web.explorer.grid.long_texts import chunk_length, cut_texts
from deltaweb.web.explorer.partitions.selector import (
    PartitionFilter,
    partition_page,
    partition_totals,
)

LONG = "x" * 1_000_000


def files(*values: str) -> pa.Table:
    count = len(values)
    return pa.table(
        {
            "path": pa.array([f"{n}.parquet" for n in range(count)], pa.string()),
            "size": pa.array([1] * count, pa.int64()),
            "modification_time": pa.array([0] * count, pa.int64()),
            "partition_values": pa.array(
                [[("p", value)] for value in values], pa.map_(pa.string(), pa.string())
            ),
        }
    )


class TestALongText:
    def test_is_cut_and_says_how_long_it_is(self) -> None:
        (cut,) = cut_texts(pa.array([LONG])).to_pylist()

        assert cut == f"{'x' * 300}… (1000000 characters)"

    def test_others_stay_as_they_are(self) -> None:
        texts = pa.array(["x" * 500, None, ""])

        assert cut_texts(texts) is texts

    def test_an_export_holds_fewer_rows_of_long_values_at_once(self) -> None:
        assert chunk_length(files(LONG, LONG), 5000) < 10
        assert chunk_length(files("a", "b"), 5000) == 5000


class TestFilesOfLongPartitionValues:
    def test_show_their_beginning(self) -> None:
        page = file_page(files(LONG, "b"), FileFilter(sort="path"), ["p"])

        values = [dict(file.partition)["p"] for file in page.files]
        assert values == [f"{'x' * 300}… (1000000 characters)", "b"]

    def test_have_them_whole_in_csv(self) -> None:
        lines = list(file_rows(files(LONG), FileFilter(), ["p"]))

        assert lines[1][1] == LONG


class TestPartitionsOfLongValues:
    def test_are_added_up_by_the_whole_value(self) -> None:
        totals = partition_totals(files(f"{LONG}a", f"{LONG}b", f"{LONG}a"), ["p"])

        assert totals["files"].to_pylist() == [2, 1]

    def test_show_its_beginning_without_a_link(self) -> None:
        totals = partition_totals(files(LONG, "b"), ["p"])
        page = partition_page(totals, PartitionFilter(sort="values"), ["p"], 1)

        assert [one.is_cut for one in page.partitions] == [False, True]
        assert totals.nbytes < 2_000
