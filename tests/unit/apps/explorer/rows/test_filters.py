import re
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from apps.explorer.rows.filters import row_filter
from apps.pages.request.parameters import QueryError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.expressions.condition import SQLCondition
from tests.support import cases

SCHEMA = StructType(
    parse_columns_ddl(
        "id BIGINT, note STRING, price DECIMAL(10, 2), rate FLOAT, share DOUBLE, "
        "day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, done BOOLEAN, "
        "tags ARRAY<STRING>, `a:b` STRING, `tick``s` STRING"
    )
)


class TestRowFilter:
    @cases(
        "text, sql",
        {
            "a long": ("id:eq:7", "`id` = 7"),
            "a negative long": ("id:ne:-7", "`id` != -7"),
            "a quote": ("note:eq:O'Neil", r"`note` = 'O\'Neil'"),
            "empty text": ("note:eq:", "`note` = ''"),
            "a colon in the value": ("note:eq:a:b", "`note` = 'a:b'"),
            "a colon in the name": ("a:b:eq:x", "`a:b` = 'x'"),
            "a backtick": ("tick`s:null", "`tick``s` IS NULL"),
            "a decimal": ("price:lt:1.50", "`price` < 1.50"),
            "a float": ("rate:eq:0.1", "`rate` = CAST('0.1' AS FLOAT)"),
            "a double": ("share:lt:1e3", "`share` < CAST('1000.0' AS DOUBLE)"),
            "a day": ("day:ge:2026-01-02", "`day` >= DATE '2026-01-02'"),
            "an instant": (
                "at:lt:2026-01-02T00:00:00Z",
                "`at` < TIMESTAMP '2026-01-02 00:00:00Z'",
            ),
            "a time without a zone": (
                "local:lt:2026-01-02 03:04",
                "`local` < TIMESTAMP_NTZ '2026-01-02 03:04:00'",
            ),
            "a boolean": ("done:eq:TRUE", "`done` = TRUE"),
            "a nested column": ("tags:notnull:", "`tags` IS NOT NULL"),
            "percent": ("note:contains:50%", "contains(`note`, '50%')"),
        },
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

    @cases(
        "text, sentence",
        {
            "no such column": (
                "nowhere:eq:1",
                "This version has no column 'nowhere'. Its columns are: id, note, ",
            ),
            "a slip": ("nota:eq:1", "has no column 'nota'. Did you mean 'note'?"),
            "no such operator": ("id:like:1", "column:operator:value"),
            "a column alone": ("id", "'id' is not a condition"),
            "a fraction for a long": ("id:eq:1.5", "'1.5' is not a value"),
            "SQL for a long": ("id:eq:1 OR 1=1", "'id' (bigint)"),
            "not a number": ("price:eq:NaN", "'price' (decimal(10,2))"),
            "a number without end": ("price:eq:1e999999999", "'price'"),
            "no such day": ("day:eq:2026-02-30", "such as 2026-11-21"),
            "not a boolean": ("done:eq:maybe", "Give true or false"),
            "nested": ("tags:eq:x", "(array<string>) cannot be compared"),
            "no text": ("id:contains:1", "'id' (bigint) is not text"),
            "before year one": ("at:eq:0001-01-01 00:00+14:00", "'at'"),
        },
    )
    def test_says_what_does_not_fit_the_schema(self, text: str, sentence: str) -> None:
        with pytest.raises(QueryError, match=re.escape(sentence)):
            row_filter(SCHEMA, text, UTC)

    def test_a_name_of_any_length_stays_a_sentence(self) -> None:
        with pytest.raises(QueryError) as caught:
            row_filter(SCHEMA, f"{'x' * 3000}:eq:1", UTC)

        assert len(str(caught.value)) < 400
