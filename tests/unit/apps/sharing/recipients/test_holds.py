from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from apps.sharing.errors import LifetimeInvalidError
from apps.sharing.recipients.holds import hold_span
from tests.support import cases

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


class TestHoldSpan:
    def test_is_not_limited_by_the_lifetime_of_tokens(self, settings: Settings) -> None:
        settings.TOKEN_MAX_DAYS = 30

        assert hold_span("365d", now=NOW) == timedelta(days=365)

    @cases(
        "text, reason",
        {
            "too long": ("366d", "a hold lasts at most 365 days"),
            "over": ("2026-11-20", "in the past"),
            "no time": ("0", "end at once"),
            "not a span": ("soon", "neither a span of time nor a date"),
        },
    )
    def test_refuses(self, text: str, reason: str) -> None:
        with pytest.raises(LifetimeInvalidError, match=reason):
            hold_span(text, now=NOW)
