"""Variants that tell the types of their values."""

import json
import struct
from decimal import Decimal

import pyarrow as pa
import pytest

from deltaweb.delta.values.variant_tree import VariantNode, plain_variant, variant_tree
from deltaweb.delta.values.variants import variant_texts
from tests.unit.deltaweb.delta.values.test_variants import (
    members,
    names,
    plain,
    primitive,
    text,
)


def typed(value: bytes, metadata: bytes | None = None) -> str:
    array = plain(value, metadata=metadata or names("a", "b"))
    (found,) = variant_texts(array, tells_types=True).to_pylist()
    return str(found)


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (primitive(0), "null", "null"),
        (primitive(2), "boolean", "false"),
        (primitive(3, b"\xff"), "tinyint", "-1"),
        (primitive(6, struct.pack("<q", 2**63 - 1)), "bigint", "9223372036854775807"),
        (primitive(7, struct.pack("<d", 100.0)), "double", "100.0"),
        (primitive(8, b"\x02" + struct.pack("<i", -1050)), "decimal", "-10.5"),
        (primitive(11, struct.pack("<i", 0)), "date", "1970-01-01"),
        (primitive(12, bytes(8)), "timestamp", "1970-01-01 00:00:00+00:00"),
        (primitive(13, bytes(8)), "timestamp_ntz", "1970-01-01 00:00:00"),
        (primitive(15, struct.pack("<I", 1) + b"\x01"), "binary", "AQ=="),
        (text("1970-01-01"), "string", "1970-01-01"),
        (primitive(20, bytes(16)), "uuid", "00000000-0000-0000-0000-000000000000"),
    ],
)
def test_a_value_without_parts_tells_its_type(value: bytes, kind: str, shown: str):
    assert variant_tree(typed(value)) == VariantNode("", kind, shown)
    assert plain_variant(typed(value)) == variant_texts(plain(value))[0].as_py()


def test_objects_and_arrays_are_branches() -> None:
    array = b"\x03\x02\x00\x02\x04" + primitive(3, b"\x01") + primitive(3, b"\x02")
    value = members(a=(0, array), b=(1, text("x")))

    assert variant_tree(typed(value)) == VariantNode(
        "",
        "object",
        nodes=(
            VariantNode(
                "a",
                "array",
                nodes=(
                    VariantNode("0", "tinyint", "1"),
                    VariantNode("1", "tinyint", "2"),
                ),
            ),
            VariantNode("b", "string", "x"),
        ),
    )
    assert plain_variant(typed(value)) == '{"a":[1,2],"b":"x"}'


def test_shredded_parts_tell_their_types() -> None:
    member = pa.struct({"value": pa.binary(), "typed_value": pa.decimal128(9, 2)})
    kind = pa.struct(
        {
            "metadata": pa.binary(),
            "value": pa.binary(),
            "typed_value": pa.struct({"a": member}),
        }
    )
    row = {
        "metadata": names("a", "b"),
        "value": members(b=(1, text("x"))),
        "typed_value": {"a": {"value": None, "typed_value": Decimal("1.50")}},
    }

    (found,) = variant_texts(pa.array([row], kind), tells_types=True).to_pylist()

    assert json.loads(found) == {
        "type": "object",
        "value": {
            "a": {"type": "decimal", "value": 1.5},
            "b": {"type": "string", "value": "x"},
        },
    }


def test_a_tree_of_very_many_values_is_none() -> None:
    assert variant_tree(typed(text("x")), max_nodes=0) is None
