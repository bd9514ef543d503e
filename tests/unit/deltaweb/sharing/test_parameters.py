import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.sharing.errors import ParameterInvalidError
from deltaweb.sharing.parameters import (
    MAX_LONG,
    MAX_PAGE_LENGTH,
    check_version,
    parse_max_results,
    parse_moment,
    parse_version,
)
from tests.support import cases


def utc(  # noqa: PLR0913, PLR0917 (as datetime takes them)
    year: int,
    month: int,
    day: int,
    hour: int,
    minute: int = 0,
    second: int = 0,
    microsecond: int = 0,
) -> datetime:
    return datetime(year, month, day, hour, minute, second, microsecond, UTC)


class TestParseMaxResults:
    @pytest.mark.parametrize(
        ("text", "length"),
        [
            (None, MAX_PAGE_LENGTH),
            ("0", 0),
            ("7", 7),
            ("+7", 7),
            ("007", 7),
            ("500", 500),
            ("501", 500),
            ("9" * 5000, 500),
            ("0" * 5000 + "3", 3),
        ],
    )
    def test_is_cut_to_the_servers_most(self, text: str | None, length: int) -> None:
        assert parse_max_results(text) == length

    @pytest.mark.parametrize(
        "text", ["", "-1", "1.5", "x", "１", "٣", "1\n", " 1", "1_0", "0x1", "1e", "1."]
    )
    def test_refuses_what_is_no_number(self, text: str) -> None:
        with pytest.raises(ParameterInvalidError, match="maxResults"):
            parse_max_results(text)


class TestVersion:
    @pytest.mark.parametrize(
        ("text", "version"),
        [("0", 0), ("12", 12), ("12.0", 12), ("1e2", 100), (str(MAX_LONG), MAX_LONG)],
    )
    def test_is_read(self, text: str, version: int) -> None:
        assert parse_version(text) == version

    @pytest.mark.parametrize(
        "text", ["", "-1", "x", "1.5", str(MAX_LONG + 1), "9" * 99]
    )
    def test_that_no_table_has_is_refused(self, text: str) -> None:
        with pytest.raises(ParameterInvalidError, match="version"):
            parse_version(text)

    def test_is_checked(self) -> None:
        assert check_version(3) == 3
        for wrong in (None, -1, MAX_LONG + 1):
            with pytest.raises(ParameterInvalidError):
                check_version(wrong)


class TestParseMoment:
    @cases(
        "text, moment",
        {
            "Z": ("2026-01-31T12:00:00Z", utc(2026, 1, 31, 12)),
            "a zone and microseconds": (
                "2026-01-31T12:00:00.123456+02:00",
                utc(2026, 1, 31, 10, 0, 0, 123456),
            ),
            "a lost plus": ("2026-01-31T12:00:00 02:00", utc(2026, 1, 31, 10)),
            "JDBC": ("2026-1-5 3:04:05", utc(2026, 1, 5, 3, 4, 5)),
            "JDBC with nanoseconds": (
                "2026-01-05 03:04:05.123456789",
                utc(2026, 1, 5, 3, 4, 5, 123456),
            ),
        },
    )
    def test_reads_times_with_a_zone(self, text: str, moment: datetime) -> None:
        assert parse_moment(text, name="timestamp") == moment

    @given(moment=st.datetimes(timezones=st.just(UTC)), hours=st.integers(-12, 12))
    def test_reads_every_iso_time(self, moment: datetime, hours: int) -> None:
        zone = timezone(timedelta(hours=hours))
        try:
            text = moment.astimezone(zone).isoformat()
        except OverflowError:
            return

        assert parse_moment(text, name="timestamp") == moment

    @given(
        text=st.from_regex(
            r"[0-9]{4}-[01][0-9]-[0-3][0-9][T ][0-9:.,]{0,15}([zZ]|[+ -][0-9:]{0,8})?",
            fullmatch=True,
        )
        | st.text(max_size=40)
    )
    def test_has_a_zone_or_is_refused(self, text: str) -> None:
        found = None
        with contextlib.suppress(ParameterInvalidError):
            found = parse_moment(text, name="startingTimestamp")

        assert found is None or found.tzinfo is not None

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "2026-01-31",
            "2026-01-31T12:00:00",
            "2026-02-30 00:00:00",
            "now",
            "1769904000",
        ],
    )
    def test_refuses_times_without_a_zone(self, text: str) -> None:
        with pytest.raises(ParameterInvalidError, match="not a time with a zone"):
            parse_moment(text, name="timestamp")
