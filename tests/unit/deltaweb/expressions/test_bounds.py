"""What an expression makes is bounded before it is made, whatever its rows."""

from contextlib import suppress

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import PrimitiveType, StructField, schema_of_arrow
from deltaweb.expressions import bounds
from deltaweb.expressions.condition import SQLAssignment, SQLCondition
from deltaweb.expressions.errors import ExpressionTooLargeError, ExpressionValueError
from tests.support.conditions.expression_cases import CONDITIONS, ROWS

SCHEMA = schema_of_arrow(ROWS.schema)
[BATCH] = ROWS.to_batches()
NAMES = pa.record_batch({"name": ["s", "is", None, "says", "none"] * 400})
OF_NAMES = schema_of_arrow(NAMES.schema)
TEXT = StructField("name", PrimitiveType("string"))


def grown(text: str, times: int, calls: int) -> str:
    """A text that each call makes some times as long as the letters s in it."""
    for _ in range(calls):
        text = f"replace({text}, 's', '{'s' * times}')"
    return text


class TestWhatIsTooMuch:
    def test_a_bomb_is_refused_by_its_step_before_it_is_made(self) -> None:
        usual = pa.default_memory_pool()
        counted = pa.proxy_memory_pool(usual)
        bomb = SQLCondition(f"length({grown('name', 26, 8)}) > 1", OF_NAMES)
        pa.set_memory_pool(counted)
        try:
            with pytest.raises(ExpressionTooLargeError, match="replace needs"):
                bomb.holds(NAMES)
        finally:
            pa.set_memory_pool(usual)

        assert counted.max_memory() < 2 * bounds.MADE_BYTES

    @pytest.mark.parametrize(
        ("sql", "step"),
        [
            (f"length(concat({', '.join(['name'] * 60)})) > 1", "concat"),
            (f"coalesce(name, '{'x' * 300}') > 'a'", "CASE|a literal"),
            (f"upper({grown('name', 26, 2)}) > 'A'", "replace|upper"),
            (f"{grown('name', 26, 1)} ILIKE 'a%'", "ILIKE|replace"),
            (f"substring({grown('name', 26, 1)}, 1) > 'a'", "substring"),
            (
                f"CASE WHEN name = 'is' THEN '{'a' * 120}' ELSE name END > 'a'",
                "CASE|a literal",
            ),
            ("upper(CASE WHEN name = 'ß' THEN name ELSE 'ΰΰΰΰΰΰΰΰΰΰΰΰ' END) > 'A'", ""),
        ],
    )
    def test_each_step_says_what_it_makes(self, sql, step, monkeypatch):
        monkeypatch.setattr(bounds, "MADE_BYTES", 60)

        with pytest.raises(ExpressionTooLargeError) as refused:
            SQLCondition(sql, OF_NAMES).holds(NAMES)

        assert refused.value.num_rows == 1
        assert refused.value.num_bytes > 60
        assert any(one in refused.value.function for one in step.split("|"))

    def test_work_without_end_is_refused_though_no_row_is_too_large(self, monkeypatch):
        monkeypatch.setattr(bounds, "MADE_BYTES", 1 << 12)
        monkeypatch.setattr(bounds, "MADE_IN_ALL_BYTES", 1 << 18)

        with pytest.raises(ExpressionTooLargeError, match="for 2,000 rows"):
            SQLCondition(f"{grown('name', 26, 2)} > 'a'", OF_NAMES).holds(NAMES)

    def test_values_that_are_too_much_together_are_refused(self, monkeypatch):
        monkeypatch.setattr("deltaweb.expressions.condition.MADE_BYTES", 1 << 12)
        monkeypatch.setattr(bounds, "MADE_BYTES", 1 << 12)

        with pytest.raises(ExpressionTooLargeError, match="its value"):
            SQLAssignment("concat(name, '!')", TEXT, OF_NAMES).values(NAMES)


class TestWhatFits:
    def test_rows_are_judged_in_parts_as_they_are_at_once(self, monkeypatch):
        conditions = {sql: SQLCondition(sql, SCHEMA) for sql in CONDITIONS}
        at_once = {sql: one.holds(BATCH) for sql, one in conditions.items()}
        monkeypatch.setattr(bounds, "MADE_BYTES", 20)

        for sql, condition in conditions.items():
            with suppress(ExpressionTooLargeError):  # of one row
                assert condition.holds(BATCH).equals(at_once[sql]), sql

    def test_values_are_made_in_parts_as_they_are_at_once(self, monkeypatch):
        value = SQLAssignment("concat(upper(name), name)", TEXT, OF_NAMES)
        at_once = value.values(NAMES)
        monkeypatch.setattr(bounds, "MADE_BYTES", 1 << 12)

        assert value.values(NAMES).equals(at_once)

    def test_a_short_literal_is_not_counted_for_each_row(self, monkeypatch):
        monkeypatch.setattr(bounds, "MADE_BYTES", 1 << 10)
        sql = " OR ".join(f"name < 'text {i}'" for i in range(100))

        assert SQLCondition(sql, OF_NAMES).holds(NAMES).true_count

    def test_it_is_an_error_of_the_rows_like_others(self) -> None:
        assert issubclass(ExpressionTooLargeError, ExpressionValueError)

    def test_long_literals_are_not_added_up(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(bounds, "MADE_IN_ALL_BYTES", 1 << 20)
        monkeypatch.setattr(bounds, "MADE_BYTES", 1 << 19)
        sql = " OR ".join(f"name < '{'x' * 100} {i}'" for i in range(100))

        assert SQLCondition(sql, OF_NAMES).holds(NAMES).true_count
