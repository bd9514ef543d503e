from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from apps.explorer.forms import QueryError, RowQuery
from apps.explorer.selectors.row_filters import row_filter
from apps.explorer.selectors.rows import row_plan
from deltaweb.delta.schema import (
    ArrayType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.sharing.predicates import parse_predicate

SCHEMA = StructType(
    (
        StructField("id", PrimitiveType("long")),
        StructField("note", PrimitiveType("string")),
        StructField("price", DecimalType(10, 2)),
        StructField("day", PrimitiveType("date")),
        StructField("at", PrimitiveType("timestamp")),
        StructField("local", PrimitiveType("timestamp_ntz")),
        StructField("done", PrimitiveType("boolean")),
        StructField("tags", ArrayType(PrimitiveType("string"))),
        StructField("a:b", PrimitiveType("string")),
        StructField("tick`s", PrimitiveType("string")),
    )
)


class TestRowFilter:
    @pytest.mark.parametrize(
        ("text", "sql"),
        [
            pytest.param("id:eq:7", "`id` = 7", id="a long"),
            pytest.param("id:ne:-7", "`id` <> -7", id="a negative long"),
            pytest.param("note:eq:O'Neil", "`note` = 'O''Neil'", id="a quote"),
            pytest.param("note:eq:", "`note` = ''", id="empty text"),
            pytest.param("note:eq:a:b", "`note` = 'a:b'", id="a colon in the value"),
            pytest.param("a:b:eq:x", "`a:b` = 'x'", id="a colon in the name"),
            pytest.param("tick`s:null", "`tick``s` IS NULL", id="a backtick"),
            pytest.param("price:lt:1.50", "`price` < 1.50", id="a decimal"),
            pytest.param("day:ge:2026-01-02", "`day` >= DATE '2026-01-02'", id="a day"),
            pytest.param(
                "at:lt:2026-01-02T00:00:00Z",
                "`at` < TIMESTAMP '2026-01-02 00:00:00Z'",
                id="an instant",
            ),
            pytest.param(
                "local:lt:2026-01-02 03:04",
                "`local` < TIMESTAMP_NTZ '2026-01-02 03:04:00'",
                id="a time without a zone",
            ),
            pytest.param("done:eq:TRUE", "`done` = TRUE", id="a boolean"),
            pytest.param("tags:notnull:", "`tags` IS NOT NULL", id="a nested column"),
            pytest.param("note:contains:50%", r"`note` LIKE '%50\\%%'", id="a percent"),
        ],
    )
    def test_says_the_condition_as_sql(self, text: str, sql: str) -> None:
        assert row_filter(SCHEMA, text, UTC).sql == sql
        assert parse_predicate(sql, SCHEMA) is not None

    def test_a_time_without_a_zone_is_the_readers(self) -> None:
        wanted = row_filter(SCHEMA, "at:gt:2026-07-01 00:30", ZoneInfo("Europe/Berlin"))

        assert wanted.sql == "`at` > TIMESTAMP '2026-06-30 22:30:00Z'"

    def test_reads_as_words_on_its_chip(self) -> None:
        assert row_filter(SCHEMA, "id:ge:7", UTC).text == "id ≥ 7"
        assert row_filter(SCHEMA, "note:null:x", UTC).text == "note is null"

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("nowhere:eq:1", id="no such column"),
            pytest.param("id:like:1", id="no such operator"),
            pytest.param("id", id="a column alone"),
            pytest.param("id:eq:1.5", id="a fraction for a long"),
            pytest.param("id:eq:1 OR 1=1", id="SQL for a long"),
            pytest.param("price:eq:NaN", id="not a number"),
            pytest.param("price:eq:1e999999999", id="a number without end"),
            pytest.param("day:eq:2026-02-30", id="no such day"),
            pytest.param("done:eq:maybe", id="no boolean"),
            pytest.param("tags:eq:x", id="a value for a nested column"),
            pytest.param("id:contains:1", id="text in a number"),
            pytest.param("at:eq:0001-01-01 00:00+14:00", id="before the first year"),
        ],
    )
    def test_refuses_what_does_not_fit_the_schema(self, text: str) -> None:
        with pytest.raises(QueryError, match="'f'"):
            row_filter(SCHEMA, text, UTC)


class TestRowPlan:
    def test_columns_keep_the_order_of_the_schema(self) -> None:
        plan = row_plan(SCHEMA, RowQuery(columns=("day", "id")), UTC)

        assert plan.columns == ("id", "day")

    def test_all_conditions_must_hold(self) -> None:
        plan = row_plan(SCHEMA, RowQuery(filters=("id:gt:1", "note:null")), UTC)

        assert plan.predicate == "(`id` > 1) AND (`note` IS NULL)"

    def test_ten_pages_share_one_read(self) -> None:
        offsets = [row_plan(SCHEMA, RowQuery(page=p), UTC).offset for p in (1, 10, 11)]

        assert offsets == [0, 0, 500]

    @pytest.mark.parametrize(
        "query",
        [
            pytest.param(RowQuery(columns=("nowhere",)), id="a column"),
            pytest.param(RowQuery(sort="-nowhere"), id="an order"),
        ],
    )
    def test_refuses_a_column_that_the_version_has_not(self, query: RowQuery) -> None:
        with pytest.raises(QueryError):
            row_plan(SCHEMA, query, UTC)
