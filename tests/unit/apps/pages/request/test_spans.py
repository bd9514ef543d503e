from datetime import UTC, datetime, timedelta

import pytest

from apps.pages.request.spans import (
    SpanInvalidError,
    check_future,
    parse_end,
    parse_span,
)
from tests.support import cases

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
LAST_SECOND = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
HALF_PAST = datetime(2026, 11, 30, 0, 0, 0, 500_000, tzinfo=UTC)


class TestParseEnd:
    @cases(
        "text, end",
        {
            "a span": ("90d", NOW + timedelta(days=90)),
            "through a day": ("2026-11-30", LAST_SECOND),
            "a moment": ("2026-11-30T01:00:00.5+01:00", HALF_PAST),
            "never": ("", None),
        },
    )
    def test_reads_spans_days_and_nothing(self, text, end) -> None:
        assert parse_end(text, now=NOW) == end

    @pytest.mark.parametrize(
        "text", ["0", "2026-11-20", "soon", "9" * 400 + "d", "2026-11-30T01:00"]
    )
    def test_refuses_what_is_over_or_no_span(self, text: str) -> None:
        with pytest.raises(SpanInvalidError, match="is not valid"):
            parse_end(text, now=NOW)


@cases(
    "text, reason",
    {"nought": ("0", "it would end at once"), "a day": ("2026-11-20", "in the past")},
)
def test_what_is_over_says_why(text: str, reason: str) -> None:
    with pytest.raises(SpanInvalidError, match=reason):
        check_future(parse_span(text, now=NOW), text=text)


def test_a_span_may_be_nothing() -> None:
    assert parse_span("0", now=NOW) == timedelta(0)
