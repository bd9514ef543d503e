from datetime import UTC, datetime

from apps.tables.index.rows import moment
from tests.support import cases


class TestMoment:
    @cases(
        "time_ms, expected",
        {
            "ms": (1500, datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)),
            "far": (2**63 - 1, datetime(9999, 12, 31, 23, 59, 59, 0, UTC)),
            "long ago": (-(2**63), datetime(1, 1, 1, tzinfo=UTC)),
        },
    )
    def test_stays_within_what_dates_can_say(self, time_ms: int, expected: datetime):
        assert moment(time_ms) == expected
