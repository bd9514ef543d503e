from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from apps.explorer.rows.form import RowQuery
from apps.explorer.rows.plan import RowPlan, row_plan
from apps.pages.request.parameters import QueryError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.values.variant_get import VARIANT
from deltaweb.expressions.condition import SQLCondition
from tests.support import cases

COLUMNS = ("id", "note", "day")


def schema(*names: str) -> StructType:
    kinds = {"id": "long", "day": "date"}
    return StructType(
        tuple(StructField(n, PrimitiveType(kinds.get(n, "string"))) for n in names)
    )


def wide(num_columns: int) -> StructType:
    return schema(*(f"c{number}" for number in range(num_columns)))


def plan_of(num_columns: int, *leading: str, **asked: object) -> RowPlan:
    query = RowQuery(**asked)  # type: ignore[arg-type]  # fields of it
    return row_plan(wide(num_columns), query, UTC, leading)


class TestRowPlan:
    def test_columns_keep_the_order_of_the_schema(self) -> None:
        plan = row_plan(schema(*COLUMNS), RowQuery(columns=("day", "id")), UTC)

        assert plan.columns == ("id", "day")

    def test_all_conditions_must_hold(self) -> None:
        plan = row_plan(
            schema(*COLUMNS), RowQuery(filters=("id:gt:1", "note:null")), UTC
        )

        assert plan.predicate == "(`id` > 1) AND (`note` IS NULL)"

    def test_a_condition_may_be_one_in_sql(self) -> None:
        filters = ("upper(note) = 'A' OR id > 5", "id:lt:9", "day > '2026-1-1'")
        plan = row_plan(
            schema(*COLUMNS), RowQuery(filters=filters), ZoneInfo("Asia/Tokyo")
        )

        assert plan.predicate == (
            "(`id` < 9) AND (upper(note) = 'A' OR id > 5) AND (day > '2026-1-1')"
        )
        assert plan.zone_name == "Asia/Tokyo"

    def test_a_comment_hides_no_other_condition(self) -> None:
        filters = ("id > 5 -- why", "day > '2026-1-1'")
        plan = row_plan(schema(*COLUMNS), RowQuery(filters=filters), UTC)

        condition = SQLCondition(plan.predicate, schema(*COLUMNS))
        assert condition.names == {"id", "day"}

    def test_one_in_sql_may_name_parts_of_variants(self) -> None:
        columns = StructType((StructField("payload", VARIANT),))
        name = "payload:$.n::bigint"
        plan = row_plan(columns, RowQuery(filters=(f"`{name}` + 1 > 5",)), UTC)

        assert [*plan.parts] == [name]

    @cases(
        "text, words",
        {
            "no column": ("upper(nowhere) = 'A'", "no column 'nowhere'"),
            "no SQL": ("note =", "not SQL"),
            "a number": ("id + 1", "a condition is needed"),
            "what is not evaluated here": ("rlike(note, 'a')", "rlike"),
        },
    )
    def test_says_why_one_in_sql_is_none(self, text: str, words: str) -> None:
        with pytest.raises(QueryError, match=words):
            row_plan(schema(*COLUMNS), RowQuery(filters=(text,)), UTC)

    def test_ten_pages_share_one_read(self) -> None:
        offsets = [
            row_plan(schema(*COLUMNS), RowQuery(page=p), UTC).offset
            for p in (1, 10, 11)
        ]

        assert offsets == [0, 0, 500]

    @cases(
        "query",
        {
            "a column": RowQuery(columns=("nowhere",)),
            "an order": RowQuery(sort="-nowhere"),
        },
    )
    def test_refuses_a_column_that_the_version_has_not(self, query: RowQuery) -> None:
        with pytest.raises(QueryError, match="has no column 'nowhere'"):
            row_plan(schema(*COLUMNS), query, UTC)


class TestAWideTable:
    def test_starts_with_its_first_columns_and_what_tells_rows_apart(self) -> None:
        plan = plan_of(400, "c399", "c5")

        assert plan.columns == (*(f"c{number}" for number in range(30)), "c399")
        assert plan.num_hidden == 369

    def test_a_narrow_one_starts_with_every_column(self) -> None:
        assert plan_of(40).num_hidden == 0

    def test_every_column_is_shown_a_page_of_columns_at_a_time(self) -> None:
        plan = plan_of(400, columns=("*",), column_page=7)

        assert plan.columns == tuple(f"c{number}" for number in range(360, 400))
        assert (plan.first_column, plan.last_column) == (361, 400)
        assert plan.num_column_pages == 7

    def test_a_page_of_columns_behind_the_last_is_the_last(self) -> None:
        assert plan_of(400, columns=("*",), column_page=99).column_page == 7

    def test_what_sorts_the_rows_is_read_though_it_is_not_shown(self) -> None:
        plan = plan_of(400, sort="-c399")

        assert "c399" not in plan.columns
        assert plan.read_columns[-1] == "c399"

    def test_an_export_has_every_column_unless_some_were_chosen(self) -> None:
        chosen = plan_of(400, columns=("c7", "c390"))

        assert len(plan_of(400).for_export().columns) == 400
        assert chosen.for_export().columns == ("c7", "c390")

    def test_the_chooser_lists_a_bounded_number_of_columns(self) -> None:
        plan = plan_of(9000)

        assert len(plan.choices()) == 200
        assert len(plan.filterable) == 200

    def test_the_chooser_finds_any_column_and_keeps_the_chosen(self) -> None:
        choices = dict(plan_of(9000).choices("C899"))

        assert next(iter(choices)) == "c899"
        assert choices["c8995"] is False
        assert choices["c0"] is True


class TestPartsOfVariants:
    PART = "v:$.a::bigint"

    def plan(self, *columns: str, **asked: object) -> RowPlan:
        fields = (*schema("id", "day").fields, StructField("v", VARIANT))
        query = RowQuery(columns=columns, **asked)  # type: ignore[arg-type]  # of it
        return row_plan(StructType((*fields, *schema("end").fields)), query, UTC)

    def test_follow_their_column_in_the_order_asked(self) -> None:
        other = "v:$.b::date"
        plan = self.plan("end", other, self.PART, "id", "v")

        assert plan.columns == ("id", "v", other, self.PART, "end")
        assert self.plan(self.PART, "end").columns == (self.PART, "end")
        assert self.plan("*", self.PART).columns == ("id", "day", "v", self.PART, "end")

    def test_are_no_columns_of_the_version(self) -> None:
        plan = self.plan("id", self.PART)

        assert (plan.num_chosen, plan.num_parts, plan.num_hidden) == (1, 1, 3)
        assert plan.all_columns == ("id", "day", "v", "end")
        assert plan.for_export().columns == ("id", self.PART)

    def test_are_read_to_be_sorted_by_and_listed_to_be_chosen(self) -> None:
        plan = self.plan("id", sort=f"-{self.PART}", filters=("v:$.b::date:null",))

        assert plan.read_columns == ("id", self.PART)
        assert plan.predicate == "(`v:$.b::date` IS NULL)"
        assert plan.part_choices == [(self.PART, False), ("v:$.b::date", False)]
        assert plan.filterable[:2] == [self.PART, "v:$.b::date"]

    def test_are_offered_of_columns_of_variants(self) -> None:
        assert self.plan().variants == ["v"]
