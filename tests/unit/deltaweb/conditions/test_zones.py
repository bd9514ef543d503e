"""Times of hints that do not say their zone: the client's, which is not known."""

import json

import pyarrow as pa
import pytest

from deltaweb.conditions.columns import find_column
from deltaweb.delta.scan.predicate import predicate_columns, to_expression
from deltaweb.delta.values.value_text import arrow_array, parse_value
from tests.support import cases
from tests.support.conditions.hint_cases import SCHEMA, column, op, selected, sql_hints


class TestTimesOfAnotherZone:
    """The Spark connector writes its session's times in SQL, and instants in JSON."""

    AFTER = "(CAST(partitionValues.ts AS TIMESTAMP) > TIMESTAMP '2020-05-02 12:00:00')"

    @pytest.mark.parametrize("beside", [None, json.dumps(op("isNotNull", column("p")))])
    def test_are_of_any_zone(self, beside: str | None) -> None:
        assert selected(sql_hints(self.AFTER, beside_json=beside)) == "abc"

    def test_are_exact_where_they_say_their_zone(self) -> None:
        assert selected(sql_hints(self.AFTER.replace(":00'", ":00Z'"))) == "c"

    @cases(
        "sql, may_be, may_not_be",
        {
            "a time beside a local one": (
                "local < TIMESTAMP '2011-12-30 12:00:00'",
                "2011-12-31 00:00:00",
                "2011-12-31 13:00:00",
            ),
            "a local time that was skipped": (
                "local > TIMESTAMP '2011-12-31 22:00:00'",
                "2011-12-30 23:00:00",
                "2011-12-30 21:00:00",
            ),
            "a time beside a day": (
                "born < TIMESTAMP '2011-12-30 12:00:00'",
                "2011-12-31",
                "2012-01-01",
            ),
            "a day that was skipped": (
                "born >= TIMESTAMP '2011-12-31 00:00:00'",
                "2011-12-30",
                "2011-12-29",
            ),
        },
    )
    def test_are_moved_by_what_the_clocks_of_some_zone_skipped(
        self, sql: str, may_be: str, may_not_be: str
    ) -> None:
        (found,) = sql_hints(sql).predicates
        (path,) = predicate_columns(found)
        kind = find_column(SCHEMA, path).data_type

        def matches(text: str) -> bool:
            value = arrow_array([parse_value(text, kind)], kind)
            row = pa.table({path[0]: value})
            return bool(row.filter(to_expression(found)).num_rows)

        assert matches(may_be)
        assert not matches(may_not_be)
