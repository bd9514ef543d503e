from datetime import UTC, datetime

import pytest

from deltaweb.web.tables.index.rows import moment


class TestMoment:
    @pytest.mark.parametrize(
        ("time_ms", "expected"),
        [
            pytest.param(1500, datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC), id="ms"),
            pytest.param(
                2**63 - 1, datetime(9999, 12, 31, 23, 59, 59, 0, UTC), id="far"
            ),
            pytest.param(-(2**63), datetime(1, 1, 1, tzinfo=UTC), id="long ago"),
        ],
    )
    def test_stays_within_what_dates_can_say(self, time_ms: int, expected: datetime):
        assert moment(time_ms) == expected
