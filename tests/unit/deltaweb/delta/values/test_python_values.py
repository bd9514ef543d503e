from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deltaweb.delta.values.python_values import as_text, python_values, to_json_of

YEAR_36812_S = 2**40


def test_dates_beyond_what_python_holds_are_text() -> None:
    column = pa.chunked_array(
        [pa.array([YEAR_36812_S, 0], pa.int64()).cast(pa.timestamp("s"))]
    )

    values = python_values(column)

    assert isinstance(values[0], str)
    assert values[1] == datetime(1970, 1, 1)  # noqa: DTZ001 (timestamp_ntz)


def test_lists_of_such_times_say_so_and_spare_the_others() -> None:
    kind = pa.list_(pa.timestamp("us", "UTC"))
    column = pa.array([[2**62], [0]], pa.list_(pa.int64())).cast(kind)

    values = python_values(column)

    assert values == [
        "not a time that can be shown",
        [datetime(1970, 1, 1, tzinfo=UTC)],
    ]


def test_a_short_float_has_the_fewest_digits_that_mean_it() -> None:
    short = pa.float32()
    kind = pa.struct(
        [("x", short), ("l", pa.list_(short)), ("m", pa.map_(short, "i4"))]
    )
    value = {"x": 0.1, "l": [-3.4028235e38, None], "m": [(1.5, 2)]}

    assert python_values(pa.array([0.1, None, float("-inf")], short)) == [
        0.1,
        None,
        float("-inf"),
    ]
    assert python_values(pa.chunked_array([pa.array([value, None], kind)])) == [
        value,
        None,
    ]


def test_a_decimal_as_text_has_no_exponent() -> None:
    small = pa.array([Decimal("0.0000000001"), None], pa.decimal128(38, 10))

    assert as_text(small).to_pylist() == ["0.0000000001", None]


def test_a_decimal_inside_another_value_has_none_either() -> None:
    nested = pa.array([[Decimal("0.0000000001")]], pa.list_(pa.decimal128(38, 10)))

    assert as_text(nested).to_pylist() == ['["0.0000000001"]']


# === JSON of rows ===

ITEM = pa.struct({"id": pa.int64(), "n": pa.int32()})


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.int64(), 5, "5"),
        (pa.int64(), None, None),
        (pa.int32(), 5, 5),
        (pa.decimal128(5, 2), Decimal("1.50"), "1.50"),
        (pa.binary(), b"\x00\xff", "00ff"),
        (pa.list_(ITEM), [{"id": 5, "n": 5}, None], [{"id": "5", "n": 5}, None]),
        (pa.map_(pa.string(), pa.int64()), [("a", 1)], {"a": "1"}),
        (pa.map_(pa.string(), pa.int64()), [], {}),
        (
            pa.map_(pa.string(), pa.int32()),
            [("a", 1), ("a", 2)],
            [{"key": "a", "value": 1}, {"key": "a", "value": 2}],
        ),
        (pa.map_(pa.int64(), pa.bool_()), [(1, True)], [{"key": "1", "value": True}]),
        (ITEM, "not a time that can be shown", "not a time that can be shown"),
    ],
)
def test_json_of_a_value_is_told_by_its_type(kind, value, expected) -> None:
    assert to_json_of(kind)(value) == expected


def test_maps_are_pairs_where_that_is_asked() -> None:
    kind = pa.list_(pa.map_(pa.string(), pa.int64()))

    to_json = to_json_of(kind, maps_are_pairs=True)

    assert to_json([[("a", 1)], []]) == [[{"key": "a", "value": "1"}], []]
