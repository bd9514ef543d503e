from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_type,
    schema_of_arrow,
)
from deltaweb.delta.values.data_values import Origin, conform
from deltaweb.delta.values.stored_columns import MismatchError
from tests.support import cases

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
MAP = MapType(STRING, LONG)
PAIRS = pa.map_(pa.string(), pa.int32())


def conformed(array: pa.Array, data_type: DataType) -> pa.Array:
    result = conform(array, data_type, "c", origin=Origin.DATA_FILE)
    result.validate(full=True)
    assert result.type.equals(arrow_type(data_type))
    return result


class TestText:
    @pytest.mark.parametrize("stored", ["string", "large_string", "binary"])
    def test_that_is_no_utf8_names_the_column(self, stored: str) -> None:
        broken = pa.array([b"fine", b"\xff\xfe"]).cast(pa.large_binary())
        array = broken.view(pa.large_string())
        if stored != "large_string":
            array = pa.array([b"fine", b"\xff\xfe"]).view(stored)

        with pytest.raises(MismatchError, match="UTF8") as caught:
            conform(array, STRING, "c", origin=Origin.DATA_FILE)

        assert caught.value.column == "c"

    def test_of_a_slice_is_checked_within_it_alone(self) -> None:
        array = pa.array([b"\xff", b"fine"]).view(pa.string()).slice(1)

        assert conformed(array, STRING).to_pylist() == ["fine"]


class TestEncodings:
    @cases(
        "array",
        {
            "codes": pa.array(["a", "a", None]).dictionary_encode(),
            "runs": pa.RunEndEncodedArray.from_arrays([2, 3], pa.array(["a", None])),
            "an extension": pa.ExtensionArray.from_storage(
                pa.json_(pa.string()), pa.array(["a", "a", None])
            ),
            "codes of an extension": pa.ExtensionArray.from_storage(
                pa.opaque(pa.dictionary(pa.int32(), pa.string()), "t", "v"),
                pa.array(["a", "a", None]).dictionary_encode(),
            ),
            "large": pa.array(["a", "a", None], pa.large_string()),
            "views": pa.array(["a", "a", None], pa.string_view()),
        },
    )
    def test_are_undone(self, array: pa.Array) -> None:
        assert conformed(array, STRING).to_pylist() == ["a", "a", None]

    @cases(
        "array",
        {
            "a code beyond the dictionary": pa.DictionaryArray.from_arrays(
                pa.array([0, 7], pa.int32()), ["a"], safe=False
            ),
            "a value that is no text": pa.DictionaryArray.from_arrays(
                pa.array([0], pa.int32()), pa.array([b"\xff"]).view(pa.string())
            ),
        },
    )
    def test_that_are_broken_name_the_column(self, array: pa.Array) -> None:
        with pytest.raises(MismatchError, match="dictionary is invalid"):
            conform(array, STRING, "c", origin=Origin.DATA_FILE)


class TestLists:
    @cases(
        "kind",
        {
            "list": pa.list_(pa.int32()),
            "large": pa.large_list(pa.int32()),
            "view": pa.list_view(pa.int32()),
            "large view": pa.large_list_view(pa.int32()),
        },
    )
    def test_keep_nulls_and_empty_lists_in_a_slice(self, kind: pa.DataType) -> None:
        array = pa.array([[9], None, [], [1, None], [2]], kind).slice(1, 3)

        assert conformed(array, ArrayType(LONG)).to_pylist() == [None, [], [1, None]]

    def test_of_a_fixed_size_are_lists(self) -> None:
        array = pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int64(), 2))

        assert conformed(array, ArrayType(LONG)).to_pylist() == [[1, 2], None, [3, 4]]


class TestMaps:
    def test_keep_nulls_and_empty_maps_in_a_slice(self) -> None:
        array = pa.array([[("z", 9)], None, [], [("a", 1), ("b", None)]], PAIRS).slice(
            1
        )

        assert conformed(array, MAP).to_pylist() == [None, [], [("a", 1), ("b", None)]]

    def test_are_read_from_lists_of_pairs(self) -> None:
        array = pa.array([[{"key": "a", "value": 1}], None])

        assert conformed(array, MAP).to_pylist() == [[("a", 1)], None]

    @cases(
        "stored, expected",
        {
            "in one of many maps": (
                [[("a", 1), ("b", 2), ("a", 3)], None, [("a", 4)]],
                [[("a", 3), ("b", 2)], None, [("a", 4)]],
            ),
            "the last one a null": (
                [[("a", 1)], [("a", 2), ("a", None)], []],
                [[("a", 1)], [("a", None)], []],
            ),
        },
    )
    def test_have_the_last_value_of_a_key_that_is_there_twice(self, stored, expected):
        array = pa.array([[("a", 9), ("a", 8)], *stored], PAIRS).slice(1)

        assert conformed(array, MAP).to_pylist() == expected

    @cases(
        "key, first, other",
        {
            "structs": (pa.struct([("x", pa.int64())]), {"x": 1}, {"x": 2}),
            "structs with nulls": (
                pa.struct([("x", pa.int64()), ("y", pa.string())]),
                {"x": None, "y": "a"},
                {"x": 0, "y": "a"},
            ),
            "structs of lists": (
                pa.struct([("l", pa.list_(pa.int64()))]),
                {"l": [1, None]},
                {"l": [1]},
            ),
            "structs in structs": (
                pa.struct([("s", pa.struct([("x", pa.int64())]))]),
                {"s": None},
                {"s": {"x": None}},
            ),
            "lists": (pa.list_(pa.int64()), [], [None]),
            "maps": (pa.map_(pa.string(), pa.int64()), [("a", 1)], [("a", None)]),
        },
    )
    def test_with_nested_keys_have_the_last_value_too(self, key, first, other) -> None:
        kind = pa.map_(key, pa.int64())
        stored = [[(first, 1), (other, 2), (first, 3)], None, [(first, 4)], []]
        array = pa.array([[(first, 9), (first, 8)], *stored], kind).slice(1)
        columns = schema_of_arrow(pa.schema([("c", kind)])).fields

        found = conformed(array, columns[0].data_type).to_pylist()

        assert found == [[(first, 3), (other, 2)], None, [(first, 4)], []]

    def test_without_values_have_nulls(self) -> None:
        kind = pa.list_(pa.field("key", pa.string(), nullable=False))
        array = pa.array([["a", "b"], None, []], kind)

        assert conformed(array, MAP).to_pylist() == [
            [("a", None), ("b", None)],
            None,
            [],
        ]

    def test_are_not_read_from_other_lists(self) -> None:
        with pytest.raises(MismatchError, match="it is list"):
            conform(pa.array([["a"]]), MAP, "c", origin=Origin.DATA_FILE)

    def test_with_a_null_key_are_refused(self) -> None:
        array = pa.array([[{"key": None, "value": 1}]])

        with pytest.raises(MismatchError, match="key of the map is null"):
            conform(
                pa.array(
                    array,
                    pa.list_(pa.struct([("key", pa.string()), ("value", pa.int64())])),
                ),
                MAP,
                "c",
                origin=Origin.DATA_FILE,
            )


class TestStructs:
    def test_keep_nulls_in_a_slice(self) -> None:
        array = pa.array([{"x": 9}, None, {"x": None}, {"x": 1}]).slice(1)
        struct = StructType((StructField("x", LONG), StructField("new", STRING)))

        assert conformed(array, struct).to_pylist() == [
            None,
            {"x": None, "new": None},
            {"x": 1, "new": None},
        ]

    def test_without_fields_keep_nulls(self) -> None:
        array = pa.array([{"x": 1}, None])

        assert conformed(array, StructType(())).to_pylist() == [{}, None]


class TestWidening:
    @pytest.mark.parametrize(
        ("array", "data_type", "expected"),
        [
            pytest.param(
                pa.array([-128, None], pa.int8()),
                PrimitiveType("double"),
                [-128.0, None],
                id="byte to double",
            ),
            pytest.param(
                pa.array([2**31 - 1], pa.int32()),
                DecimalType(12, 2),
                [Decimal("2147483647.00")],
                id="integer to decimal",
            ),
            pytest.param(
                pa.array([-(2**63)], pa.int64()),
                DecimalType(20, 0),
                [Decimal(-(2**63))],
                id="long to decimal",
            ),
            pytest.param(
                pa.array([date(1969, 12, 31), date(9999, 12, 31)]),
                PrimitiveType("timestamp_ntz"),
                [datetime(1969, 12, 31), datetime(9999, 12, 31)],  # noqa: DTZ001
                id="date to a time without a zone",
            ),
            pytest.param(
                pa.array([[1.5, None]], pa.list_(pa.float32())),
                ArrayType(PrimitiveType("double")),
                [[1.5, None]],
                id="elements of an array",
            ),
        ],
    )
    def test_keeps_every_value(self, array, data_type, expected):
        assert conformed(array, data_type).to_pylist() == expected

    @cases(
        "array, data_type",
        {
            "long to double": (
                pa.array([2**53 + 1], pa.int64()),
                PrimitiveType("double"),
            ),
            "a date to an instant": (
                pa.array([1], pa.date32()),
                PrimitiveType("timestamp"),
            ),
            "too few digits": (pa.array([1000], pa.int32()), DecimalType(4, 1)),
            "a day beyond all times": (
                pa.array([2**31 - 1], pa.int32()).view(pa.date32()),
                PrimitiveType("timestamp_ntz"),
            ),
        },
    )
    def test_that_would_change_a_value_is_refused(self, array, data_type):
        with pytest.raises(MismatchError):
            conform(array, data_type, "c", origin=Origin.DATA_FILE)


XY = StructType((StructField("x", LONG), StructField("y", STRING)))
STORED_XY = StructType(
    (
        StructField("x", LONG, physical_name="y", field_id=7),
        StructField("y", LONG, physical_name="x", field_id=8),
    )
)
INSIDE = {
    "a struct": (lambda one: one, lambda kind: kind),
    "a list": (lambda one: [one], ArrayType),
    "a map": (lambda one: [("k", one)], lambda kind: MapType(STRING, kind)),
}


@cases("wrapped, kind_of", INSIDE)
class TestRowsThatAreNoDataFile:
    """Their fields are found by the names of the schema alone."""

    def test_never_go_by_stored_names(self, wrapped, kind_of) -> None:
        kind = kind_of(STORED_XY)
        values = pa.array([wrapped({"x": 1, "y": 10}), None], arrow_type(kind))

        for origin in (Origin.ROWS, Origin.PARTIAL_ROWS):
            found = conform(values, kind, "c", origin=origin)

            assert found.to_pylist() == [wrapped({"x": 1, "y": 10}), None]

    def test_ignore_case_and_order(self, wrapped, kind_of) -> None:
        kind = kind_of(StructType((StructField("Y", STRING), StructField("X", LONG))))
        given = pa.array([wrapped({"Y": "a", "X": 1}), None], arrow_type(kind))

        found = conform(given, kind_of(XY), "c", origin=Origin.ROWS)

        assert found.to_pylist() == [wrapped({"x": 1, "y": "a"}), None]

    def test_refuse_a_field_that_is_not_found(self, wrapped, kind_of) -> None:
        kind = kind_of(StructType((StructField("x", LONG),)))
        values = pa.array([wrapped({"x": 1})], arrow_type(kind))

        with pytest.raises(MismatchError, match=r"\.y: it is missing"):
            conform(values, kind_of(XY), "c", origin=Origin.ROWS)
        found = conform(values, kind_of(XY), "c", origin=Origin.PARTIAL_ROWS)
        assert found.to_pylist() == [wrapped({"x": 1, "y": None})]

    def test_refuse_a_field_that_is_unknown(self, wrapped, kind_of) -> None:
        more = StructType((*XY.fields, StructField("z", LONG)))
        values = pa.array(
            [wrapped({"x": 1, "y": "a", "z": 2})], arrow_type(kind_of(more))
        )

        for origin in (Origin.ROWS, Origin.PARTIAL_ROWS):
            with pytest.raises(MismatchError, match=r"\.z: it is not a column"):
                conform(values, kind_of(XY), "c", origin=origin)
