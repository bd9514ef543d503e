import re
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.expressions.condition import SQLCondition
from deltaweb.web.explorer.rows.filters import row_filter
from deltaweb.web.explorer.version.query import QueryError

SCHEMA = StructType(
    (
        StructField("id", PrimitiveType("long")),
        StructField("note", PrimitiveType("string")),
        StructField("price", DecimalType(10, 2)),
        StructField("rate", PrimitiveType("float")),
        StructField("share", PrimitiveType("double")),
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
            pytest.param("id:ne:-7", "`id` != -7", id="a negative long"),
            pytest.param("note:eq:O'Neil", r"`note` = 'O\'Neil'", id="a quote"),
            pytest.param("note:eq:", "`note` = ''", id="empty text"),
            pytest.param("note:eq:a:b", "`note` = 'a:b'", id="a colon in the value"),
            pytest.param("a:b:eq:x", "`a:b` = 'x'", id="a colon in the name"),
            pytest.param("tick`s:null", "`tick``s` IS NULL", id="a backtick"),
            pytest.param("price:lt:1.50", "`price` < 1.50", id="a decimal"),
            pytest.param("rate:eq:0.1", "`rate` = CAST('0.1' AS FLOAT)", id="a float"),
            pytest.param(
                "share:lt:1e3", "`share` < CAST('1000.0' AS DOUBLE)", id="a double"
            ),
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
            pytest.param("note:contains:50%", "contains(`note`, '50%')", id="percent"),
        ],
    )
    def test_says_the_condition_as_sql(self, text: str, sql: str) -> None:
        assert row_filter(SCHEMA, text, UTC).sql == sql
        assert SQLCondition(sql, SCHEMA).names

    def test_a_time_without_a_zone_is_the_readers(self) -> None:
        wanted = row_filter(SCHEMA, "at:gt:2026-07-01 00:30", ZoneInfo("Europe/Berlin"))

        assert wanted.sql == "`at` > TIMESTAMP '2026-06-30 22:30:00Z'"

    def test_reads_as_words_on_its_chip(self) -> None:
        assert row_filter(SCHEMA, "id:ge:7", UTC).text == "id ≥ 7"
        assert row_filter(SCHEMA, "note:null:x", UTC).text == "note is null"

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            pytest.param(
                "nowhere:eq:1",
                "This version has no column 'nowhere'. Its columns are: id, note, ",
                id="no such column",
            ),
            pytest.param(
                "nota:eq:1", "has no column 'nota'. Did you mean 'note'?", id="a slip"
            ),
            pytest.param("id:like:1", "column:operator:value", id="no such operator"),
            pytest.param("id", "'id' is not a condition", id="a column alone"),
            pytest.param(
                "id:eq:1.5", "'1.5' is not a value", id="a fraction for a long"
            ),
            pytest.param("id:eq:1 OR 1=1", "'id' (bigint)", id="SQL for a long"),
            pytest.param("price:eq:NaN", "'price' (decimal(10,2))", id="not a number"),
            pytest.param("price:eq:1e999999999", "'price'", id="a number without end"),
            pytest.param("day:eq:2026-02-30", "such as 2026-11-21", id="no such day"),
            pytest.param("done:eq:maybe", "Give true or false", id="not a boolean"),
            pytest.param(
                "tags:eq:x", "(array<string>) cannot be compared", id="nested"
            ),
            pytest.param("id:contains:1", "'id' (bigint) is not text", id="no text"),
            pytest.param("at:eq:0001-01-01 00:00+14:00", "'at'", id="before year one"),
        ],
    )
    def test_says_what_does_not_fit_the_schema(self, text: str, sentence: str) -> None:
        with pytest.raises(QueryError, match=re.escape(sentence)):
            row_filter(SCHEMA, text, UTC)

    def test_a_name_of_any_length_stays_a_sentence(self) -> None:
        with pytest.raises(QueryError) as caught:
            row_filter(SCHEMA, f"{'x' * 3000}:eq:1", UTC)

        assert len(str(caught.value)) < 400
