import pytest

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.features.in_commit_timestamps import has_in_commit_timestamps
from deltaweb.delta.protocol.table_properties import (
    deleted_file_retention_ms,
    parse_interval_ms,
)

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("interval 1 week", 7 * DAY_MS, id="with the word"),
        pytest.param("2 days", 2 * DAY_MS, id="without the word"),
        pytest.param("INTERVAL 1 Day", DAY_MS, id="any case"),
        pytest.param("interval 1 day 2 hours", DAY_MS + 7_200_000, id="two terms"),
        pytest.param("interval 0 hours", 0, id="nothing"),
        pytest.param("interval 36500 days", 36_500 * DAY_MS, id="a century"),
        pytest.param("90 seconds", 90_000, id="seconds"),
        pytest.param("interval 1999 microseconds", 1, id="less than a millisecond"),
        pytest.param("1.0625 seconds", 1062, id="a fraction of seconds"),
        pytest.param("2 DAYS 0.5 second", 2 * DAY_MS + 500, id="and of other terms"),
        pytest.param("1 month", None, id="a month has no length"),
        pytest.param("1 year", None, id="nor a year"),
        pytest.param("", None, id="empty"),
        pytest.param("interval", None, id="no term"),
        pytest.param("-1 day", None, id="negative"),
        pytest.param("1.5 days", None, id="a fraction of days"),
        pytest.param("a week", None, id="words"),
    ],
)
def test_an_interval_has_a_length_or_is_none(text: str, expected: int | None) -> None:
    assert parse_interval_ms(text) == expected


def test_tombstones_are_kept_for_a_week_by_default() -> None:
    assert deleted_file_retention_ms({}) == 7 * DAY_MS


def test_an_interval_that_does_not_parse_is_named() -> None:
    with pytest.raises(PropertyError, match="deletedFileRetentionDuration"):
        deleted_file_retention_ms({"delta.deletedFileRetentionDuration": "1 month"})


def test_times_in_commits_are_off_by_default() -> None:
    assert not has_in_commit_timestamps({})
    assert has_in_commit_timestamps({"delta.enableInCommitTimestamps": "true"})
