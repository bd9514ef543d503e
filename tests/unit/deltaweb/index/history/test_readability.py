"""Versions of equal state become runs; what the log leaves out is gone."""

from deltaweb.delta.errors import (
    SchemaMissingError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
)
from deltaweb.delta.log.versions import (
    FILES_GONE,
    GONE,
    PARTLY,
    READABLE,
    UNSUPPORTED,
    ReadableRun,
)
from deltaweb.index.history.readability import (
    GONE_REASON,
    Readability,
    extended_runs,
    is_in_runs,
    overlaid_runs,
    readable_runs,
    refusal_reason,
    split_at_faults,
)
from tests.support import cases

ROOT = "s3://lake/a b"
GOOD = Readability(READABLE)
HURT = Readability(PARTLY, "vacuumed")


class TestReadableRuns:
    def test_joins_equal_neighbours(self) -> None:
        states = [(0, HURT), (1, HURT), (2, GOOD), (3, GOOD)]

        assert readable_runs(states, 3) == [
            (0, 1, PARTLY, "vacuumed"),
            (2, 3, READABLE, ""),
        ]

    def test_fills_what_is_left_out(self) -> None:
        runs = readable_runs([(5, GOOD), (9, GOOD)], 10**12)

        assert runs == [
            (0, 4, GONE, GONE_REASON),
            (5, 5, READABLE, ""),
            (6, 8, GONE, GONE_REASON),
            (9, 9, READABLE, ""),
            (10, 10**12, GONE, GONE_REASON),
        ]


class TestIsInRuns:
    @cases(
        "versions, runs, expected",
        {
            "no version": ([], [(0, 1)], []),
            "no run": ([0, 1], [], [False, False]),
            "ends": ([0, 1, 2, 3], [(1, 2)], [False, True, True, False]),
            "two runs": ([1, 5, 9], [(0, 2), (9, 9)], [True, False, True]),
        },
    )
    def test_looks_versions_up_in_order(self, versions, runs, expected):
        assert is_in_runs(versions, runs) == expected


class TestSplitAtFaults:
    @cases(
        "faults, checkpoints, expected",
        {
            "nothing broken": ([], [], [(0, 20)]),
            "no checkpoint after it": ([5], [], [(0, 4)]),
            "from the next checkpoint": ([5], [10], [(0, 4), (10, 20)]),
            "one at the commit itself": ([10], [10], [(0, 9), (10, 20)]),
            "the first commit": ([0], [3], [(3, 20)]),
            "two before one checkpoint": ([5, 7], [10], [(0, 4), (10, 20)]),
            "two, one after it": ([5, 12], [10], [(0, 4), (10, 11)]),
            "outside the run": ([25], [10], [(0, 20)]),
        },
    )
    def test_takes_out_what_a_broken_commit_hides(self, faults, checkpoints, expected):
        assert split_at_faults([(0, 20)], faults, checkpoints) == expected


class TestExtendedRuns:
    RUNS = (
        ReadableRun(0, 1, GONE, "broken"),
        ReadableRun(2, 4, PARTLY, "vacuumed"),
        ReadableRun(5, 6, READABLE, ""),
    )

    @cases(
        "first, latest, expected",
        {
            "nothing came and nothing went": (2, 6, RUNS),
            "new versions are readable": (
                2,
                9,
                [*RUNS[:2], ReadableRun(5, 9, READABLE, "")],
            ),
            "what is cleaned is gone, and why others are stays told": (
                4,
                6,
                [
                    RUNS[0],
                    ReadableRun(2, 3, GONE, GONE_REASON),
                    ReadableRun(4, 4, PARTLY, "vacuumed"),
                    RUNS[2],
                ],
            ),
            "gone runs of one reason are one": (
                6,
                7,
                [
                    RUNS[0],
                    ReadableRun(2, 5, GONE, GONE_REASON),
                    ReadableRun(6, 7, READABLE, ""),
                ],
            ),
        },
    )
    def test_follow_the_log(self, first: int, latest: int, expected: list[ReadableRun]):
        runs = extended_runs(self.RUNS, first=first, latest=latest)

        assert runs == [*expected]

    def test_may_end_partly(self) -> None:
        runs = extended_runs([ReadableRun(0, 3, PARTLY, "why")], first=0, latest=4)

        assert runs == [(0, 3, PARTLY, "why"), (4, 4, READABLE, "")]


class TestOverlaidRuns:
    RUNS = (
        ReadableRun(0, 1, GONE, "cleaned"),
        ReadableRun(2, 5, PARTLY, "of an older index"),
        ReadableRun(6, 9, READABLE, ""),
        ReadableRun(10, 10, UNSUPPORTED, "a feature"),
    )

    def test_leaves_out_what_runs_said_of_files(self) -> None:
        assert overlaid_runs(self.RUNS, []) == [
            (0, 1, GONE, "cleaned"),
            (2, 9, READABLE, ""),
            (10, 10, UNSUPPORTED, "a feature"),
        ]

    def test_lets_a_later_layer_hide_an_earlier_one(self) -> None:
        layers = [
            ReadableRun(2, 7, FILES_GONE, "by the log"),
            ReadableRun(3, 6, READABLE, ""),
            ReadableRun(5, 5, PARTLY, "seen"),
        ]

        assert overlaid_runs(self.RUNS, layers)[1:-1] == [
            (2, 2, FILES_GONE, "by the log"),
            (3, 4, READABLE, ""),
            (5, 5, PARTLY, "seen"),
            (6, 6, READABLE, ""),
            (7, 7, FILES_GONE, "by the log"),
            (8, 9, READABLE, ""),
        ]

    def test_keeps_what_no_file_changes_and_adds_no_version(self) -> None:
        layers = [ReadableRun(0, 10**12, PARTLY, "seen")]

        assert overlaid_runs(self.RUNS, layers) == [
            (0, 1, GONE, "cleaned"),
            (2, 9, PARTLY, "seen"),
            (10, 10, UNSUPPORTED, "a feature"),
        ]

    def test_of_no_run_is_none(self) -> None:
        assert overlaid_runs([], [ReadableRun(0, 3, PARTLY, "seen")]) == []


@cases(
    "refusal, reason",
    {
        "features": (
            UnsupportedFeatureError(root=ROOT, version=0, features=["a", "b"]),
            "It uses a, b, which this server does not read.",
        ),
        "a reader": (
            UnsupportedProtocolError(
                root=ROOT, version=12, min_reader_version=5, supported=3
            ),
            "It needs reader version 5; this server reads up to 3.",
        ),
        "a schema": (
            SchemaMissingError(root=ROOT, version=3),
            "Its metadata has no schema.",
        ),
    },
)
def test_a_refusal_names_neither_the_place_nor_a_version(refusal, reason):
    assert refusal_reason(refusal) == reason
