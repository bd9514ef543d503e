"""The sizes of a table's row groups: what is marked, and what is said instead."""

from apps.explorer.drawing import SMALL
from apps.explorer.parquet_table import group_sizes
from apps.tables.versions.survey.inside import GroupSizes
from tests.support import cases

MIB = 1 << 20
TWO = GroupSizes(edges=(MIB, 2 * MIB, 4 * MIB), counts=(3, 1), num_small=4)


def test_small_groups_are_marked_where_the_table_could_have_larger_ones() -> None:
    chart = group_sizes(TWO, marks_small=True)

    assert set(chart.figure["data"][0]["marker"]["color"]) == {SMALL}
    assert chart.note == "4 of 4 below 8 MiB"


def test_nothing_is_marked_in_a_table_smaller_than_one_file() -> None:
    chart = group_sizes(TWO, marks_small=False)

    assert SMALL not in chart.figure["data"][0]["marker"]["color"]
    assert (chart.note, chart.label) == ("", "Sizes of 4 row groups")


@cases(
    "counts, words",
    {
        "two sizes are drawn": ((3, 1), ""),
        "one": ((0, 1), "The one row group has 2 MiB to 4 MiB."),
        "both": ((0, 2), "Both row groups have 2 MiB to 4 MiB."),
        "many": ((22, 0), "All 22 row groups have 1 MiB to 2 MiB."),
    },
)
def test_a_single_bar_is_a_sentence(counts: tuple[int, ...], words: str) -> None:
    sizes = GroupSizes(edges=TWO.edges, counts=counts, num_small=0)

    assert group_sizes(sizes, marks_small=False).words == words
