"""Parts of variants as values of a type."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deltaweb.delta.values.variant_get import (
    VariantCastError,
    VariantPathError,
    format_path,
    parse_path,
    variant_get,
)

TEXTS = pa.array(
    [
        '{"a":{"b c":[1,"2",3.50]},"d":"2024-02-29","n":9007199254740993,"z":null}',
        '"text"',
        None,
    ]
)
NESTED = '{"b c":[1,"2",3.50]}'


@pytest.mark.parametrize(
    ("path", "data_type", "expected"),
    [
        ("$.a['b c'][0]", "INT", 1),
        ('$.a["b c"][1]', "BIGINT", 2),
        ("$.a['b c'][2]", "DECIMAL(5, 2)", Decimal("3.50")),
        ("$.a['b c'][2]", "DOUBLE", 3.5),
        ("$.d", "DATE", date(2024, 2, 29)),
        ("$.d", "STRING", "2024-02-29"),
        ("$.n", "BIGINT", 9007199254740993),
        ("$.n", "STRING", "9007199254740993"),
        ("$.a", "STRING", NESTED),
        ("$.z", "INT", None),
        ("$.nothing[7].x", "INT", None),
        ("$.a['b c'][3]", "INT", None),
    ],
)
def test_a_part_is_read_as_a_type(path: str, data_type: str, expected: object) -> None:
    assert variant_get(TEXTS, path, data_type).to_pylist() == [expected, None, None]


def test_the_whole_variant_is_a_part() -> None:
    assert variant_get(TEXTS, "$").to_pylist()[1:] == ["text", None]


@pytest.mark.parametrize(
    ("text", "data_type", "expected"),
    [
        ("true", "BOOLEAN", True),
        ("true", "INT", 1),
        ('"2024-01-01 9:5"', "TIMESTAMP_NTZ", datetime(2024, 1, 1, 9, 5)),  # noqa: DTZ001
        ('"0.1d"', "DOUBLE", 0.1),
        ('"2024-01-01 00:00:00+00:00"', "TIMESTAMP", datetime(2024, 1, 1, tzinfo=UTC)),
        ('"2024-01-01 00:00:00"', "TIMESTAMP_NTZ", datetime(2024, 1, 1)),  # noqa: DTZ001
        ('"AQ=="', "BINARY", b"\x01"),
        ("1.0E10", "DOUBLE", 1e10),
    ],
)
def test_text_of_a_variant_is_of_every_type(text, data_type, expected):
    assert variant_get(pa.chunked_array([[text]]), "$", data_type).to_pylist() == [
        expected
    ]


def test_a_value_of_another_type_is_named_or_null() -> None:
    texts = pa.array(['{"a":1}', '{"a":"one"}'])

    with pytest.raises(
        VariantCastError, match=r"one at \$\.a of a variant is not a valid int"
    ):
        variant_get(texts, "$.a", "INT")
    assert variant_get(texts, "$.a", "INT", or_null=True).to_pylist() == [1, None]


@pytest.mark.parametrize("data_type", ["TIMESTAMP", "TIMESTAMP_NTZ", "DATE"])
def test_a_time_of_day_is_no_instant_of_the_day_of_reading(data_type: str) -> None:
    texts = pa.array(['"10:11"', '"T10:11:12.5"'])

    found = variant_get(texts, "$", data_type, or_null=True)

    assert found.to_pylist() == [None, None]


@pytest.mark.parametrize("path", ["", "a", "$a", "$.", "$[x]", "$.a..b", "$['a'"])
def test_a_path_of_another_form_is_refused(path: str) -> None:
    with pytest.raises(VariantPathError, match="not a valid variant path"):
        parse_path(path)


def test_a_nested_type_is_refused() -> None:
    with pytest.raises(TypeError, match="not nested"):
        variant_get(TEXTS, "$.a", "ARRAY<INT>")


@pytest.mark.parametrize(
    ("number", "data_type", "expected"),
    [
        ("1.5", "INT", 1),
        ("-1.9", "BIGINT", -1),
        ("0.125", "DECIMAL(5, 2)", Decimal("0.13")),
        ("1.5", "TIMESTAMP", datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)),
        ("2", "BOOLEAN", True),
    ],
)
def test_a_number_is_cut_or_rounded_to_the_type(number, data_type, expected):
    assert variant_get(pa.array([number]), "$", data_type).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("number", "data_type"),
    [
        ("128", "TINYINT"),
        ("1.0E19", "BIGINT"),
        ("1000", "DECIMAL(5, 2)"),
        ("true", "BINARY"),
    ],
)
def test_a_number_that_has_no_room_is_refused_or_null(number: str, data_type: str):
    numbers = pa.array([number])

    with pytest.raises(VariantCastError, match="is no"):
        variant_get(numbers, "$", data_type)
    assert variant_get(numbers, "$", data_type, or_null=True).to_pylist() == [None]


@pytest.mark.parametrize("number", ["1.0E999999999", "9" * 2_000, "1E-99999"])
def test_a_number_of_endless_digits_costs_nothing(number: str) -> None:
    numbers = pa.array([number])

    assert variant_get(numbers, "$", "INT", or_null=True).to_pylist() == [None]


@pytest.mark.parametrize(
    ("path", "data_type", "expected"),
    [
        ("$.at", "STRING", "2024-01-01 00:00:00"),
        ("$.at", "BIGINT", 1_704_067_200),
        ("$.raw", "BINARY", b"\x01"),
        ("$.text", "BINARY", b"AQ=="),
        ("$.all[0]", "INT", 1),
        ("$.all", "STRING", "[1]"),
        ("$.none.x", "INT", None),
        ("$.at", "BOOLEAN", None),
        ("$.at", "BINARY", None),
    ],
)
def test_with_types_a_time_and_bytes_are_no_texts(path, data_type, expected):
    parts = {
        "at": '{"type":"timestamp","value":"2024-01-01 00:00:00+00:00"}',
        "raw": '{"type":"binary","value":"AQ=="}',
        "text": '{"type":"string","value":"AQ=="}',
        "all": '{"type":"array","value":[{"type":"int","value":1}]}',
    }
    members = ",".join(f'"{name}":{part}' for name, part in parts.items())
    variants = pa.array([f'{{"type":"object","value":{{{members}}}}}'])

    found = variant_get(variants, path, data_type, or_null=True, typed_variants=True)

    assert found.to_pylist() == [expected]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.a", NESTED),
        ("$.d", '"2024-02-29"'),
        ("$.a['b c'][2]", "3.50"),
        ("$.z", "null"),
        ("$.z.x", None),
        ("$.nothing", None),
        ("$.a['b c'][3]", None),
    ],
)
def test_a_part_may_be_a_variant_as_text(path: str, expected: str | None) -> None:
    assert variant_get(TEXTS, path, "VARIANT").to_pylist() == [expected, None, None]


@pytest.mark.parametrize(
    ("steps", "path"),
    [
        ((), "$"),
        (("a", 0, "b_c-1"), "$.a[0].b_c-1"),
        (("b c", "d.e", ""), "$['b c']['d.e']['']"),
        (("it's",), '$["it\'s"]'),
    ],
)
def test_steps_are_written_as_the_path_that_they_are_read_from(steps, path):
    assert format_path(steps) == path
    assert tuple(parse_path(path)) == steps


def test_no_path_leads_to_a_name_of_both_quotes() -> None:
    assert format_path(("a", "'\"")) == ""
