"""A merge and an update take nested types as an append takes them."""

from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import schema_of_arrow
from deltaweb.delta.writing.errors import SchemaMismatchError
from deltaweb.expressions.errors import (
    ExpressionError,
    ExpressionMistakenError,
    ExpressionValueError,
)
from deltaweb.table import DeltaTable
from deltaweb.writer.rows.assigned_values import AssignedValue
from tests.support import cases
from tests.support.tables.table_builder import TableBuilder


def struct(*fields: tuple[str, pa.DataType]) -> pa.DataType:
    return pa.struct([pa.field(name, kind) for name, kind in fields])


LONG, INT, TEXT = pa.int64(), pa.int32(), pa.string()
PAIR = struct(("a", LONG), ("b", TEXT))
NOT_NULL = pa.struct([pa.field("a", LONG, nullable=False), ("b", TEXT)])
FOUND = {"a": 1, "b": "x"}
MAPPED = {"delta.columnMapping.mode": "name"}

FITS: dict[str, tuple[pa.DataType, pa.DataType, Any, Any]] = {
    "a narrower number": (PAIR, struct(("a", INT), ("b", TEXT)), FOUND, FOUND),
    "a wider number": (struct(("a", INT)), struct(("a", LONG)), {"a": 1}, {"a": 1}),
    "another order": (PAIR, struct(("b", TEXT), ("a", LONG)), FOUND, FOUND),
    "another case": (PAIR, struct(("A", LONG), ("B", TEXT)), {"A": 1, "B": "x"}, FOUND),
    "not null in the table": (NOT_NULL, PAIR, FOUND, FOUND),
    "not null in the source": (PAIR, NOT_NULL, FOUND, FOUND),
    "a missing field": (PAIR, struct(("a", LONG)), {"a": 1}, {"a": 1, "b": None}),
    "a null struct": (NOT_NULL, PAIR, None, None),
    "a list": (pa.list_(LONG), pa.list_(INT), [1, None], [1, None]),
    "a list without signs": (pa.list_(LONG), pa.list_(pa.uint64()), [1], [1]),
    "floats without signs": (
        pa.map_(TEXT, pa.float64()),
        pa.map_(TEXT, pa.uint64()),
        [("k", 1), ("n", None)],
        [("k", 1.0), ("n", None)],
    ),
    "fields without signs": (
        struct(("s", struct(("a", pa.int8()), ("b", TEXT)))),
        struct(("s", struct(("B", TEXT), ("a", pa.uint64())))),
        {"s": {"B": "x", "a": 1}},
        {"s": FOUND},
    ),
    "a large list": (pa.list_(LONG), pa.large_list(LONG), [1], [1]),
    "a list of structs": (
        pa.list_(PAIR),
        pa.list_(struct(("B", TEXT), ("a", INT))),
        [{"B": "x", "a": 1}, None],
        [FOUND, None],
    ),
    "a map": (pa.map_(TEXT, LONG), pa.map_(TEXT, INT), [("k", 1)], [("k", 1)]),
    "a map of structs": (
        pa.map_(TEXT, PAIR),
        pa.map_(TEXT, struct(("b", TEXT), ("a", LONG))),
        [("k", {"b": "x", "a": 1})],
        [("k", FOUND)],
    ),
    "a struct in a struct": (
        struct(("s", PAIR)),
        struct(("s", struct(("b", TEXT), ("a", INT)))),
        {"s": {"b": "x", "a": 1}},
        {"s": FOUND},
    ),
}
REFUSED: dict[str, tuple[pa.DataType, pa.DataType]] = {
    "an unknown field": (struct(("a", LONG)), struct(("a", LONG), ("z", LONG))),
    "a field that may not be null": (NOT_NULL, struct(("b", TEXT))),
}


def table_of(kind: pa.DataType, **properties: str) -> DeltaTable:
    schema = pa.schema([("id", LONG), ("c", kind)])
    builder = TableBuilder().columns(schema).properties(properties)
    return builder.rows(id=[1, 3], c=pa.array([None, None], kind)).build()


def source_of(kind: pa.DataType, value: Any) -> pa.Table:  # noqa: ANN401 # of any type
    return pa.table({"id": pa.array([1, 2], LONG), "c": pa.array([value] * 2, kind)})


def merge(table: DeltaTable, source: pa.Table) -> None:
    merge = table.merge(source, on="t.id = s.id")
    merge.when_matched_update().when_not_matched_insert().execute()


class TestRowsOfASource:
    @cases("wanted, found, value, stored", FITS)
    @cases("properties", {"plain": {}, "mapped": MAPPED})
    def test_are_taken_as_an_append_takes_them(
        self,
        wanted: pa.DataType,
        found: pa.DataType,
        value: object,
        stored: object,
        properties: dict[str, str],
    ) -> None:
        table = table_of(wanted, **properties)
        merge(table, source_of(found, value))
        appended = table_of(wanted, **properties)
        appended.append(source_of(found, value))

        rows = table.snapshot().read().sort_by("id")
        assert rows["c"].to_pylist() == [stored, stored, None]
        assert rows["c"].to_pylist()[1] in appended.snapshot().read()["c"].to_pylist()

    @cases("wanted, found", REFUSED)
    def test_are_refused_where_an_append_refuses_them(
        self, wanted: pa.DataType, found: pa.DataType
    ) -> None:
        table = table_of(wanted)
        source = source_of(found, None)

        with pytest.raises(ExpressionMistakenError, match=r"field 'c\."):
            merge(table, source)
        with pytest.raises(SchemaMismatchError):
            table.append(source)

    @cases(
        "wanted, found, value, place",
        {
            "a list": (pa.list_(INT), pa.list_(LONG), [2**40], "c.element"),
            "a map": (
                pa.map_(TEXT, struct(("x", INT))),
                pa.map_(TEXT, struct(("x", LONG))),
                [("k", {"x": 2**40})],
                "c.value.x",
            ),
            "a struct": (
                struct(("s", struct(("x", INT)))),
                struct(("s", struct(("X", LONG)))),
                {"s": {"X": 2**40}},
                "c.s.x",
            ),
        },
    )
    def test_a_value_that_does_not_fit_is_named_by_its_place(
        self, wanted: pa.DataType, found: pa.DataType, value: object, place: str
    ) -> None:
        table = table_of(wanted)

        with pytest.raises(ExpressionValueError) as caught:
            merge(table, source_of(found, value))
        assert f"'{place}' does not fit: a value is not a valid int" in str(
            caught.value
        )
        assert table.latest_version() == 1

    def test_a_number_beyond_a_long_is_an_error(self) -> None:
        table = table_of(pa.list_(LONG))

        with pytest.raises(ExpressionValueError, match="'c' does not fit"):
            merge(table, source_of(pa.list_(pa.uint64()), [2**63]))
        assert table.latest_version() == 1


class TestAssignments:
    def test_find_fields_by_their_names(self) -> None:
        other = struct(("b", TEXT), ("a", INT))
        table = TableBuilder().columns(pa.schema([("c", PAIR), ("d", other)])).build()
        values = pa.array([{"b": "y", "a": 2}], other)
        table.append(pa.table({"c": pa.array([FOUND], PAIR), "d": values}))

        table.update({"c": "d", "d": "c"})

        assert table.snapshot().read().to_pylist() == [
            {"c": {"a": 2, "b": "y"}, "d": {"b": "x", "a": 1}}
        ]

    def test_have_all_fields(self) -> None:
        schema = schema_of_arrow(pa.schema([("c", PAIR), ("e", struct(("a", LONG)))]))
        column = schema.fields[0]

        with pytest.raises(ExpressionMistakenError, match=r"lacks the field 'c\.b'"):
            AssignedValue("e", column, schema)
        AssignedValue("e", column, schema, may_lack=True)

    def test_no_message_names_two_equal_types(self) -> None:
        texts = schema_of_arrow(
            pa.schema([("c", pa.list_(LONG)), ("e", pa.list_(TEXT))])
        )

        with pytest.raises(ExpressionError) as caught:
            AssignedValue("e", texts.fields[0], texts)
        assert not isinstance(caught.value, ExpressionMistakenError)  # Spark may do it
        assert "'c.element' is string in the rows and bigint" in str(caught.value)


class TestNullStructs:
    """Structs that are null and have fields which may not be."""

    KIND = pa.struct([pa.field("code", TEXT, nullable=False)])

    @cases(
        "kind, values",
        {
            "a struct": (KIND, [{"code": "a"}, None]),
            "in a list": (pa.list_(KIND), [[{"code": "a"}], [None]]),
            "in a map": (pa.map_(TEXT, KIND), [[("k", {"code": "a"})], [("k", None)]]),
            "in a struct": (struct(("s", KIND)), [{"s": {"code": "a"}}, {"s": None}]),
        },
    )
    @cases("properties", {"plain": {}, "mapped": MAPPED})
    def test_stay_in_files_that_are_written_again(
        self, kind: pa.DataType, values: list[Any], properties: dict[str, str]
    ) -> None:
        builder = TableBuilder().properties(properties)
        table = builder.rows(id=[1, 2], n=[10, 20], c=pa.array(values, kind)).build()

        assert table.plan_update({"n": "n + 1"}, "id = 1").outcome.num_rows == 1
        table.update({"n": "n + 1"}, "id = 1")
        source = pa.table({"id": [1], "n": [12]})
        table.merge(source, on="t.id = s.id").when_matched_update(
            {"n": "s.n"}
        ).execute()

        found = table.snapshot().read().sort_by("id")
        assert found["n"].to_pylist() == [12, 20]
        assert found["c"].to_pylist() == values
