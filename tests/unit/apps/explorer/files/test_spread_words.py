"""A sentence stands where a picture would show one or two bars."""

import pyarrow as pa

from apps.explorer.files.spread_words import spread_words
from apps.explorer.version.listed import ListedFiles
from tests.support import cases

TIME_MS = 1_795_346_100_000
counts = iter(range(1000))


def words(sizes, rows=None, times=None):
    num = len(sizes)
    files = pa.table(
        {
            "size": pa.array(sizes, pa.int64()),
            "num_records": pa.array(rows or [None] * num, pa.int64()),
            "modification_time": pa.array(times or [TIME_MS] * num, pa.int64()),
        }
    )
    return spread_words(ListedFiles(f"words/{next(counts)}", files))


@cases(
    "sizes, expected",
    {
        "one file": ([2048], "The one file has 2.0 KiB."),
        "all alike": ([2048] * 3, "All 3 files have 2.0 KiB."),
        "two": ([2048, 2048, 9216], "2 files have 2.0 KiB, 1 file has 9.0 KiB."),
        "under one bar": (
            [2048, 2100, 3000],
            "All 3 files have between 2.0 KiB and 2.9 KiB.",
        ),
        "nearly alike": ([2048, 2049, 2050], "All 3 files have about 2.0 KiB."),
        "three that differ": ([2048, 5000, 9216], ""),
        "no file": ([], ""),
    },
)
def test_sizes_that_make_no_picture_are_said(sizes: list[int], expected: str) -> None:
    assert words(sizes).sizes == expected


def test_rows_are_said_of_those_files_that_tell() -> None:
    assert words([1, 1], [1000, 1000]).rows == "Both files have 1,000 rows."
    assert words([1, 1, 1], [1000, 1000, None]).rows == "2 files have 1,000 rows."
    assert words([1, 1]).rows == ""


def test_one_moment_is_said() -> None:
    ages = words([1, 2]).ages

    assert ages == "Both files were written on 22 November 2026 at 11:15:00 UTC."


def test_a_picture_of_three_moments_is_drawn() -> None:
    spread = words([1, 1, 1], times=[TIME_MS, TIME_MS + 1, TIME_MS + 2])

    assert spread.ages == ""
    assert spread.sentences == ["All 3 files have 1 B."]
