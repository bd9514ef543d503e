from apps.tables.versions.readable import lost_runs, names_of_runs
from tests.support import cases

RUNS = [
    [0, 2, "GONE", "The log was cleaned."],
    [3, 3, "PARTLY", "A VACUUM."],
    [4, 5, "READABLE", ""],
    [6, 8, "UNSUPPORTED", "A feature."],
    [9, 10, "PARTLY", "A VACUUM."],
    [11, 12, "FILES_GONE", "A VACUUM."],
]


@cases(
    "first, expected",
    {
        "all, neighbours as one": (0, [(0, 3), (9, 12)]),
        "from a run on": (3, [(3, 3), (9, 12)]),
        "from the middle of a run on": (11, [(11, 12)]),
        "after them": (13, []),
    },
)
def test_lost_runs_are_those_without_files_or_log(first, expected):
    found = lost_runs(RUNS, first=first)

    assert [(run.first, run.last) for run in found] == expected


@cases(
    "lost, expected",
    {
        "none": ([], ""),
        "a run": ([(0, 4)], "v0 to v4"),
        "two runs": ([(0, 4), (7, 7)], "v0 to v4 and v7"),
        "three": ([(1, 1), (3, 3), (5, 6)], "v1, v3 and v5 to v6"),
        "many": ([(n, n) for n in (1, 3, 5, 7)], "v1, v3, v5 and others"),
    },
)
def test_versions_are_told_in_words(lost: list[tuple[int, int]], expected: str) -> None:
    raw = [[first, last, "PARTLY", ""] for first, last in lost]

    assert names_of_runs(lost_runs(raw)) == expected
