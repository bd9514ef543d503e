"""Parts of variants as values of a type."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deltaweb.delta.values.variant_get import (
    VariantCastError,
    VariantPathError,
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
        ('"2024-01-01 00:00:00+00:00"', "TIMESTAMP", datetime(2024, 1, 1, tzinfo=UTC)),
        ('"2024-01-01 00:00:00"', "TIMESTAMP_NTZ", datetime(2024, 1, 1)),  # noqa: DTZ001
        ('"AQ=="', "BINARY", b"\x01"),
        ("1.0E10", "DOUBLE", 1e10),
    ],
)
def test_text_of_a_variant_is_of_every_type(
    text: str, data_type: str, expected: object
) -> None:
    assert variant_get(pa.chunked_array([[text]]), "$", data_type).to_pylist() == [
        expected
    ]


def test_a_value_of_another_type_is_named_or_null() -> None:
    texts = pa.array(['{"a":1}', '{"a":"one"}'])

    with pytest.raises(VariantCastError, match=r"one at \$\.a of a variant is no int"):
        variant_get(texts, "$.a", "INT")
    assert variant_get(texts, "$.a", "INT", or_null=True).to_pylist() == [1, None]


@pytest.mark.parametrize("path", ["", "a", "$a", "$.", "$[x]", "$.a..b", "$['a'"])
def test_a_path_of_another_form_is_refused(path: str) -> None:
    with pytest.raises(VariantPathError, match="no path"):
        parse_path(path)


def test_a_nested_type_is_refused() -> None:
    with pytest.raises(TypeError, match="not nested"):
        variant_get(TEXTS, "$.a", "ARRAY<INT>")
