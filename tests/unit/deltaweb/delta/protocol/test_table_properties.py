import pytest

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.features.in_commit_timestamps import has_in_commit_timestamps
from deltaweb.delta.protocol.table_properties import (
    deleted_file_retention_ms,
    parse_interval_ms,
)
from tests.support import cases

DAY_MS = 86_400_000


@cases(
    "text, expected",
    {
        "with the word": ("interval 1 week", 7 * DAY_MS),
        "without the word": ("2 days", 2 * DAY_MS),
        "any case": ("INTERVAL 1 Day", DAY_MS),
        "two terms": ("interval 1 day 2 hours", DAY_MS + 7_200_000),
        "nothing": ("interval 0 hours", 0),
        "a century": ("interval 36500 days", 36_500 * DAY_MS),
        "seconds": ("90 seconds", 90_000),
        "less than a millisecond": ("interval 1999 microseconds", 1),
        "a fraction of seconds": ("1.0625 seconds", 1062),
        "and of other terms": ("2 DAYS 0.5 second", 2 * DAY_MS + 500),
        "a month has no length": ("1 month", None),
        "nor a year": ("1 year", None),
        "empty": ("", None),
        "no term": ("interval", None),
        "negative": ("-1 day", None),
        "a fraction of days": ("1.5 days", None),
        "words": ("a week", None),
    },
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
