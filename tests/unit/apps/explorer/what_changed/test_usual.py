"""The usual rows and bytes of a table's commits."""

from typing import Any

import pytest

from apps.explorer.what_changed.usual import (
    LEAST_COMPARED,
    NEW_LEVEL,
    BytesOutlier,
    MeasuredCommit,
    Outlier,
    bytes_outliers,
    outliers,
)


def commit(version: int, rows: int | None, **fields: Any) -> MeasuredCommit:  # noqa: ANN401 (columns)
    defaults: dict[str, Any] = {
        "operation": "WRITE",
        "data_change": True,
        "changes_schema": False,
        "num_added_files": 1,
        "num_removed_files": 0,
        "added_rows": rows,
        "removed_rows": 0,
    }
    return MeasuredCommit(version=version, **(defaults | fields))


def marked(*rows: int | MeasuredCommit | None) -> list[int]:
    commits = [
        one if isinstance(one, MeasuredCommit) else commit(at, one)
        for at, one in enumerate(rows)
    ]
    return [*outliers(commits)]


USUAL = [1000, 1040, 980, 1010, 995, 1020, 1005, 990, 1015, 1000]


@pytest.mark.parametrize("rows", [12_000, 2_100, 400, 0])
def test_a_commit_far_from_the_median_is_marked(rows: int) -> None:
    assert marked(*USUAL, rows) == [len(USUAL)]


@pytest.mark.parametrize("rows", [1_000, 1_900, 550])
def test_a_commit_within_half_and_twice_the_median_is_not(rows: int) -> None:
    assert marked(*USUAL, rows) == []


def test_a_table_whose_commits_vary_has_a_wide_band() -> None:
    vary = [10, 10_000, 300, 45, 2_000, 90, 7_000, 600, 20, 1_500]

    assert marked(*vary, 40_000) == []


def test_a_few_commits_are_not_enough_to_compare_with() -> None:
    assert marked(*USUAL[: LEAST_COMPARED - 1], 50_000) == []


def test_says_what_is_usual() -> None:
    found = outliers([commit(at, rows) for at, rows in enumerate([*USUAL, 12_000])])

    assert found[10] == Outlier(
        rows=12_000, usual_rows=1002, least=501, most=2006, num_compared=10
    )
    assert found[10].words == "12× usual"


@pytest.mark.parametrize(
    ("rows", "words"), [(0, "no rows"), (100, "1/10 of usual"), (2500, "2× usual")]
)
def test_says_how_far_it_is_from_the_usual(rows: int, words: str) -> None:
    commits = [commit(at, one) for at, one in enumerate([*USUAL, rows])]

    assert outliers(commits)[10].words == words


def test_a_schema_change_begins_a_new_band() -> None:
    changed = commit(10, 50_000, changes_schema=True)

    assert marked(*USUAL, changed, *[50_000] * 9) == []


def test_an_outlier_does_not_move_the_band() -> None:
    assert marked(*USUAL, *[90_000, 1000] * 8) == [*range(10, 26, 2)]


def test_a_level_that_lasts_becomes_the_usual_one() -> None:
    found = marked(*USUAL, *[90_000] * (NEW_LEVEL + 5), 1000)

    assert found == [*range(10, 10 + NEW_LEVEL), 25]


@pytest.mark.parametrize(
    "fields",
    [
        {"operation": "OPTIMIZE", "data_change": False, "num_removed_files": 8},
        {"num_removed_files": 3, "removed_rows": 70_000},  # an overwrite
        {"operation": "CREATE TABLE AS SELECT"},
        {"operation": "RESTORE"},
        {"operation": "UNDO"},
        {"operation": "CONVERT"},
        {"added_rows": None},
    ],
    ids=["optimize", "overwrite", "create", "restore", "undo", "convert", "unknown"],
)
def test_what_is_no_volume_is_neither_marked_nor_compared(fields: Any) -> None:  # noqa: ANN401
    others = [commit(at, 90_000, **fields) for at in range(10, 30)]

    assert marked(*USUAL, *others, commit(30, 1000)) == []


def test_operations_of_different_kinds_have_bands_of_their_own() -> None:
    deleted = {"operation": "DELETE", "num_removed_files": 1}
    few = [
        commit(at, 0, **deleted, metrics={"numDeletedRows": "5"})
        for at in range(10, 20)
    ]
    many = commit(20, 0, **deleted, metrics={"numDeletedRows": "900"})

    assert marked(*USUAL, *few, many) == [20]


def test_a_delete_without_metrics_counts_the_rows_that_are_left_out() -> None:
    one = commit(0, 20, operation="DELETE", num_removed_files=1, removed_rows=100)

    assert one.rows() == 80


def sized(*sizes: int, **fields: Any) -> dict[int, BytesOutlier]:  # noqa: ANN401 (columns)
    """Return the outliers by bytes of appends of 100 rows each."""
    commits = [
        commit(at, 100, added_bytes=size, **fields) for at, size in enumerate(sizes)
    ]
    assert outliers(commits) == {}
    return bytes_outliers(commits)


def test_bytes_far_from_the_median_are_marked_whatever_the_rows() -> None:
    found = sized(*USUAL, 50_000)

    assert found == {
        10: BytesOutlier(
            size_bytes=50_000, usual_bytes=1002, least=250, most=4013, num_compared=10
        )
    }
    assert found[10].words == "50× usual bytes"
    assert sized(*USUAL, 20)[10].words == "1/50 of usual bytes"


def test_bytes_within_a_quarter_and_four_times_are_not() -> None:
    assert sized(*USUAL, 3_900, 270) == {}


def test_bytes_of_a_merge_are_those_that_the_table_grows_or_shrinks_by() -> None:
    one = commit(
        0, 10, operation="MERGE", num_removed_files=1, added_bytes=300,
        removed_bytes=1_000,
    )  # fmt: skip

    assert one.size_bytes() == 700


@pytest.mark.parametrize("operation", ["UPDATE", "OPTIMIZE", "RESTORE"])
def test_bytes_of_what_rewrites_files_are_not_compared(operation: str) -> None:
    assert sized(*USUAL, 50_000, operation=operation) == {}
