from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import TimestampInvalidError
from deltaweb.delta.log.commits.times import (
    RunningTimes,
    make_monotonic,
    parse_timestamp,
    to_datetime,
    to_ms,
)
from deltaweb.delta.log.paths import checkpoint_name, commit_name
from deltaweb.delta.log.store import FileStatus
from tests.support import cases


def commit(version: int, time_ms: int) -> FileStatus:
    return FileStatus(commit_name(version), 10 + version, time_ms)


@cases(
    "times_ms, expected",
    {
        "no commit": ([], []),
        "in order": ([5, 7, 9], [5, 7, 9]),
        "all at once": ([5, 5, 5], [5, 6, 7]),
        "one in the past": ([9, 5, 20], [9, 10, 20]),
        "pushed on by one before": ([9, 1, 10], [9, 10, 11]),
    },
)
def test_times_increase_with_versions(times_ms: list[int], expected: list[int]) -> None:
    statuses = [commit(version, time_ms) for version, time_ms in enumerate(times_ms)]

    assert list(make_monotonic(statuses).times_ms) == expected


def test_a_checkpoint_without_its_commit_has_a_time() -> None:
    statuses = [
        FileStatus(checkpoint_name(3), 99, 50),
        commit(4, 60),
        FileStatus(checkpoint_name(4), 99, 70),
        FileStatus("notes.txt", 1, 1),
    ]

    times = make_monotonic(statuses)

    assert list(times.versions) == [3, 4]
    assert list(times.times_ms) == [50, 60]
    assert list(times.sizes) == [None, 14]
    assert (times.time_ms(3), times.time_ms(2), times.time_ms(5)) == (50, None, None)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(-5, 60), st.sampled_from("cCk")),
        min_size=1,
    ),
    st.integers(1, 4),
)
def test_times_that_come_in_parts_are_those_of_one_listing(steps, size):
    """Steps are to the next version, its time, and how it is known.

    A commit whose time a listing tells, one whose time reading tells, or a checkpoint.
    """
    versions = np.cumsum([step + 1 for step, _, _ in steps]).tolist()
    found = [(v, ms, kind) for v, (_, ms, kind) in zip(versions, steps, strict=True)]
    names = {"c": commit_name, "C": commit_name, "k": checkpoint_name}
    expected = make_monotonic([FileStatus(names[k](v), 1, ms) for v, ms, k in found])

    running = RunningTimes(
        {v: ms for v, ms, kind in found if kind == "c"},
        {v: ms for v, ms, kind in found if kind == "k"},
    )
    commits = [(v, ms if kind == "C" else None) for v, ms, kind in found if kind != "k"]
    told: dict[int, int] = {}
    for first in range(0, len(commits), size):
        some, read_ms = zip(*commits[first : first + size], strict=True)
        times_ms = running.take(np.array(some), pa.array(read_ms, pa.int64()))
        told.update(zip(some, times_ms.tolist(), strict=True))

    assert told == {version: expected.time_ms(version) for version, _ in commits}
    assert running.finish(versions[-1]) == expected.times_ms[-1]


def test_times_go_on_after_an_older_version() -> None:
    running = RunningTimes({5: 10, 6: 500}, {}, last_ms=100)

    times_ms = running.take(np.array([5, 6]), pa.nulls(2, pa.int64()))

    assert times_ms.tolist() == [101, 500]


def test_a_time_means_the_newest_version_before_it() -> None:
    times = make_monotonic([commit(0, 100), commit(1, 200), commit(5, 300)])

    found = [times.version_at(moment) for moment in (99, 100, 199, 200, 299, 300, 999)]

    assert found == [None, 0, 0, 1, 1, 5, 5]


@pytest.mark.parametrize(
    "moment",
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31T13:00:00+01:00",
        " 2026-01-31 12:00:00.000+00:00 ",
        datetime(2026, 1, 31, 12, tzinfo=UTC),
        datetime(2026, 1, 31, 7, tzinfo=timezone(timedelta(hours=-5))),
    ],
)
def test_a_time_with_a_zone_is_read(moment: datetime | str) -> None:
    assert parse_timestamp(moment) == datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "moment",
    [
        "",
        "now",
        "2026-01-31T12:00:00",
        "2026-13-01T00:00:00Z",
        "0001-01-01T00:00+23:00",
    ],
)
def test_other_texts_are_refused(moment: str) -> None:
    with pytest.raises(TimestampInvalidError):
        parse_timestamp(moment)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(TimestampInvalidError):
        parse_timestamp(datetime(2026, 1, 31))  # noqa: DTZ001  # what is refused


@pytest.mark.parametrize(
    ("clock", "instant"),
    [
        ("2026-01-31 12:00", "2026-01-31T17:00:00+00:00"),
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00+00:00"),
        ("2024-03-10 02:30:00", "2024-03-10T07:30:00+00:00"),
        ("2024-11-03 01:30:00", "2024-11-03T05:30:00+00:00"),
        (datetime(2026, 7, 1), "2026-07-01T04:00:00+00:00"),  # noqa: DTZ001  # of a clock
    ],
)
def test_a_time_without_a_zone_is_what_a_given_zone_shows(clock, instant):
    moment = parse_timestamp(clock, time_zone="America/New_York")

    assert moment.isoformat() == instant


def test_every_millisecond_survives_the_way_to_a_time_and_back() -> None:
    times_ms = [-1, 0, *range(1_700_000_000_000, 1_700_000_001_000), 253402300799999]

    assert [to_ms(to_datetime(time_ms)) for time_ms in times_ms] == times_ms


def test_a_time_within_a_millisecond_belongs_to_the_one_before() -> None:
    moment = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)

    assert to_ms(moment) == -1
