import pytest

from deltaweb.web.tables.versions.readable import lost_runs, told

RUNS = [
    [0, 2, "GONE", "The log was cleaned."],
    [3, 3, "PARTLY", "A VACUUM."],
    [4, 5, "READABLE", ""],
    [6, 8, "UNSUPPORTED", "A feature."],
    [9, 10, "PARTLY", "A VACUUM."],
    [11, 12, "FILES_GONE", "A VACUUM."],
]


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        pytest.param(0, [(0, 3), (9, 12)], id="all, neighbours as one"),
        pytest.param(3, [(3, 3), (9, 12)], id="from a run on"),
        pytest.param(11, [(11, 12)], id="from the middle of a run on"),
        pytest.param(13, [], id="after them"),
    ],
)
def test_lost_runs_are_those_without_files_or_log(first, expected):
    found = lost_runs(RUNS, first=first)

    assert [(run.first, run.last) for run in found] == expected


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        pytest.param([], "", id="none"),
        pytest.param([(0, 4)], "v0 to v4", id="a run"),
        pytest.param([(0, 4), (7, 7)], "v0 to v4 and v7", id="two runs"),
        pytest.param([(1, 1), (3, 3), (5, 6)], "v1, v3 and v5 to v6", id="three"),
        pytest.param(
            [(n, n) for n in (1, 3, 5, 7)], "v1, v3, v5 and others", id="many"
        ),
    ],
)
def test_versions_are_told_in_words(lost: list[tuple[int, int]], expected: str) -> None:
    raw = [[first, last, "PARTLY", ""] for first, last in lost]

    assert told(lost_runs(raw)) == expected
