from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from apps.sharing.errors import LifetimeInvalidError
from apps.sharing.issuing.lifetimes import (
    check_lifetime,
    default_lifetime,
    parse_delay,
    parse_lifetime,
    parse_overlap,
)
from tests.support import cases

SECOND = timedelta(seconds=1)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class TestParseLifetime:
    @cases(
        "text, lifetime",
        {
            "days": ("90d", timedelta(days=90)),
            "hours": ("24h", timedelta(hours=24)),
            "minutes": ("30m", timedelta(minutes=30)),
            "capitals and blanks": (" 7D ", timedelta(days=7)),
            "the longest": ("365d", timedelta(days=365)),
            "the rest of today": ("2026-11-21", timedelta(hours=12) - SECOND),
            "through a date": ("2026-12-31", timedelta(days=40.5) - SECOND),
        },
    )
    def test_reads(self, text: str, lifetime: timedelta) -> None:
        assert parse_lifetime(text, now=NOW) == lifetime

    @cases(
        "text, reason",
        {
            "too long": ("366d", "at most 365 days"),
            "a date too far": ("2030-01-01", "at most 365 days"),
            "far too long": ("999999d", "at most 365 days"),
            "none": ("0d", "it would end at once"),
            "nought": ("0", "it would end at once"),
            "yesterday": ("2026-11-20", "in the past"),
            "nothing": ("", "neither a span of time nor a date"),
            "no unit": ("90", "neither"),
            "negative": ("-1d", "neither"),
            "a fraction": ("1.5d", "neither"),
            "weeks": ("1w", "neither"),
            "more digits than a span has": ("9999999d", "neither"),
            "the end of all dates": ("9999-12-31", "neither"),
            "no such day": ("2026-02-30", "neither"),
            "digits of another script": ("٣d", "neither"),
        },
    )
    def test_refuses(self, text: str, reason: str) -> None:
        with pytest.raises(LifetimeInvalidError, match=reason):
            parse_lifetime(text, now=NOW)

    def test_the_longest_is_a_setting(self, settings: Settings) -> None:
        settings.TOKEN_MAX_DAYS = 30

        assert parse_lifetime("30d", now=NOW) == timedelta(days=30)
        with pytest.raises(LifetimeInvalidError, match="at most 30 days"):
            parse_lifetime("31d", now=NOW)


class TestParseOverlap:
    @cases(
        "text, overlap",
        {"nought": ("0", timedelta(0)), "a day": ("24h", timedelta(days=1))},
    )
    def test_reads(self, text: str, overlap: timedelta) -> None:
        assert parse_overlap(text, now=NOW) == overlap

    @pytest.mark.parametrize("text", ["soon", "366d", "2026-11-20"])
    def test_refuses(self, text: str) -> None:
        with pytest.raises(LifetimeInvalidError, match="is not valid"):
            parse_overlap(text, now=NOW)


class TestParseDelay:
    def test_nought_ends_a_token_at_once(self) -> None:
        assert parse_delay("0", now=NOW) == timedelta(0)

    def test_refuses_what_is_not_a_span(self) -> None:
        with pytest.raises(LifetimeInvalidError, match="neither a span"):
            parse_delay("soon", now=NOW)


class TestCheckLifetime:
    def test_names_a_span_in_days_when_nobody_wrote_it(self) -> None:
        with pytest.raises(LifetimeInvalidError, match="'400d' is not valid"):
            check_lifetime(timedelta(days=400))

    def test_refuses_a_lifetime_that_is_over(self) -> None:
        with pytest.raises(LifetimeInvalidError, match="'0d' is not valid"):
            check_lifetime(timedelta(0))


class TestDefaultLifetime:
    @pytest.mark.parametrize(("longest", "days"), [(365, 90), (14, 14)])
    def test_is_never_longer_than_allowed(self, settings, longest, days):
        settings.TOKEN_MAX_DAYS = longest

        assert default_lifetime() == timedelta(days=days)
