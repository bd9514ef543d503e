from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from deltaweb.web.sharing.errors import LifetimeInvalidError
from deltaweb.web.sharing.issuing.lifetimes import (
    check_lifetime,
    default_lifetime,
    parse_lifetime,
    parse_span,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class TestParseLifetime:
    @pytest.mark.parametrize(
        ("text", "lifetime"),
        [
            pytest.param("90d", timedelta(days=90), id="days"),
            pytest.param("24h", timedelta(hours=24), id="hours"),
            pytest.param("30m", timedelta(minutes=30), id="minutes"),
            pytest.param(" 7D ", timedelta(days=7), id="capitals and blanks"),
            pytest.param("365d", timedelta(days=365), id="the longest"),
            pytest.param("2026-11-21", timedelta(hours=12), id="the rest of today"),
            pytest.param("2026-12-31", timedelta(days=40.5), id="through a date"),
        ],
    )
    def test_reads(self, text: str, lifetime: timedelta) -> None:
        assert parse_lifetime(text, now=NOW) == lifetime

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            pytest.param("366d", "365 days at most", id="too long"),
            pytest.param("2030-01-01", "365 days at most", id="a date too far"),
            pytest.param("999999d", "365 days at most", id="far too long"),
            pytest.param("0d", "must live for a while", id="none"),
            pytest.param("0", "must live for a while", id="nought"),
            pytest.param("2026-11-20", "in the past", id="yesterday"),
            pytest.param("", "neither a span of time nor a date", id="nothing"),
            pytest.param("90", "neither", id="no unit"),
            pytest.param("-1d", "neither", id="negative"),
            pytest.param("1.5d", "neither", id="a fraction"),
            pytest.param("1w", "neither", id="weeks"),
            pytest.param("9999999d", "neither", id="more digits than a span has"),
            pytest.param("9999-12-31", "neither", id="the end of all dates"),
            pytest.param("2026-02-30", "neither", id="no such day"),
            pytest.param("٣d", "neither", id="digits of another script"),
        ],
    )
    def test_refuses(self, text: str, reason: str) -> None:
        with pytest.raises(LifetimeInvalidError, match=reason):
            parse_lifetime(text, now=NOW)

    def test_the_longest_is_a_setting(self, settings: Settings) -> None:
        settings.TOKEN_MAX_DAYS = 30

        assert parse_lifetime("30d", now=NOW) == timedelta(days=30)
        with pytest.raises(LifetimeInvalidError, match="30 days at most"):
            parse_lifetime("31d", now=NOW)


class TestParseSpan:
    def test_nought_is_one(self) -> None:
        assert parse_span("0", now=NOW) == timedelta(0)


class TestCheckLifetime:
    def test_names_a_span_in_days_when_nobody_wrote_it(self) -> None:
        with pytest.raises(LifetimeInvalidError, match="'400d' is not valid"):
            check_lifetime(timedelta(days=400))


class TestDefaultLifetime:
    @pytest.mark.parametrize(("longest", "days"), [(365, 90), (14, 14)])
    def test_is_never_longer_than_allowed(self, settings, longest, days):
        settings.TOKEN_MAX_DAYS = longest

        assert default_lifetime() == timedelta(days=days)
