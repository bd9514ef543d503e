from deltaweb.delta.log.versions import GONE, PARTLY, READABLE, ReadableRun, joined
from tests.support import cases


@cases(
    "runs, expected",
    {
        "none": ([], []),
        "alike": (
            [ReadableRun(0, 1, GONE, "why"), ReadableRun(2, 4, GONE, "why")],
            [ReadableRun(0, 4, GONE, "why")],
        ),
        "for another reason": (
            [ReadableRun(0, 1, GONE, "why"), ReadableRun(2, 4, GONE, "cleaned")],
            [ReadableRun(0, 1, GONE, "why"), ReadableRun(2, 4, GONE, "cleaned")],
        ),
        "with a version between": (
            [ReadableRun(0, 1, READABLE), ReadableRun(3, 4, READABLE)],
            [ReadableRun(0, 1, READABLE), ReadableRun(3, 4, READABLE)],
        ),
    },
)
def test_neighbours_that_are_alike_are_one_run(runs, expected):
    assert joined(runs) == expected


def test_what_is_compared_can_be_chosen() -> None:
    runs = [ReadableRun(0, 1, GONE, "why"), ReadableRun(2, 4, PARTLY, "vacuumed")]

    assert joined(runs, by=lambda _run: None) == [ReadableRun(0, 4, GONE, "why")]
