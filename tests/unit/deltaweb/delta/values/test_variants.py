import struct
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import PrimitiveType
from deltaweb.delta.values.data_values import Origin, conform
from deltaweb.delta.values.stored_columns import MismatchError
from deltaweb.delta.values.variants import variant_texts
from deltaweb.parquet.values.variant import VariantError
from tests.support import cases

NO_NAMES = bytes([1, 0, 0])


def names(*texts: str) -> bytes:
    """Metadata with names, sorted or not."""
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    return bytes([1, len(texts), *ends]) + "".join(texts).encode()


def primitive(kind: int, raw: bytes = b"") -> bytes:
    return bytes([kind << 2]) + raw


def text(value: str) -> bytes:
    return bytes([len(value) << 2 | 1]) + value.encode()


def members(**values: tuple[int, bytes]) -> bytes:
    """An object; each member is the number of its name and its value."""
    ids = [number for number, _ in values.values()]
    ends = [0]
    for _, value in values.values():
        ends.append(ends[-1] + len(value))
    data = b"".join(value for _, value in values.values())
    return bytes([2, len(ids), *ids, *ends]) + data


def plain(*values: bytes | None, metadata: bytes = NO_NAMES) -> pa.Array:
    rows = [
        None if value is None else {"metadata": metadata, "value": value}
        for value in values
    ]
    return pa.array(rows, pa.struct({"metadata": pa.binary(), "value": pa.binary()}))


def shown(value: bytes, metadata: bytes = NO_NAMES) -> str:
    (found,) = variant_texts(plain(value, metadata=metadata)).to_pylist()
    return str(found)


class TestPlain:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (primitive(0), "null"),
            (primitive(1), "true"),
            (primitive(3, b"\xff"), "-1"),
            (primitive(6, struct.pack("<q", 2**63 - 1)), "9223372036854775807"),
            (primitive(7, struct.pack("<d", 0.1)), "0.1"),
            (primitive(7, struct.pack("<d", 100.0)), "100.0"),
            (primitive(7, struct.pack("<d", -1e10)), "-1.0E10"),
            (primitive(7, struct.pack("<d", 1.25e-7)), "1.25E-7"),
            (primitive(7, struct.pack("<d", -0.0)), "-0.0"),
            (primitive(7, struct.pack("<d", float("nan"))), '"NaN"'),
            (primitive(14, struct.pack("<f", 0.1)), "0.1"),
            (primitive(8, b"\x02" + struct.pack("<i", -1050)), "-10.5"),
            (primitive(8, b"\x00" + struct.pack("<i", 1050)), "1050"),
            (primitive(8, b"\x03" + struct.pack("<i", 0)), "0"),
            (primitive(11, struct.pack("<i", -1)), '"1969-12-31"'),
            (primitive(12, struct.pack("<q", 1)), '"1970-01-01 00:00:00.000001+00:00"'),
            (primitive(13, struct.pack("<q", 0)), '"1970-01-01 00:00:00"'),
            (primitive(15, struct.pack("<I", 2) + b"\x00\xff"), '"AP8="'),
            (text('a"'), '"a\\""'),
            (text(""), '""'),
        ],
    )
    def test_values_are_as_the_reference_writes_them(self, value: bytes, expected: str):
        assert shown(value) == expected

    def test_objects_have_their_members_by_name(self) -> None:
        value = members(a=(1, primitive(3, b"\x01")), b=(0, text("x")))

        assert shown(value, names("b", "a")) == '{"a":1,"b":"x"}'

    def test_a_missing_one_is_null_and_a_null_one_is_text(self) -> None:
        assert variant_texts(plain(None, primitive(0))).to_pylist() == [None, "null"]

    @cases(
        "value",
        {
            "nothing": b"",
            "cut": primitive(6, b"\x01"),
            "of an unknown type": primitive(60),
            "a name that is not there": members(a=(7, text("x"))),
            "a count beyond its bytes": bytes([3, 255]),
            "an array that holds itself": b"\x03\x01\x00\x00" * 5,
        },
    )
    def test_broken_ones_name_their_column(self, value: bytes) -> None:
        variant = PrimitiveType("variant")

        with pytest.raises(MismatchError, match="of its variants is invalid") as caught:
            conform(plain(value), variant, "v", origin=Origin.DATA_FILE)

        assert caught.value.column == "v"

    @cases(
        "array",
        {
            "numbers": pa.array([1]),
            "no metadata": pa.array([{"value": b""}]),
            "no value": pa.array([{"metadata": b""}]),
            "metadata of text": pa.array([{"metadata": "x", "value": b""}]),
            "no names at all": pa.array([{"metadata": None, "value": text("x")}]),
        },
    )
    def test_what_is_no_variant_is_refused(self, array: pa.Array) -> None:
        with pytest.raises(VariantError):
            variant_texts(array)


def shredded(kind: pa.DataType, *rows: tuple[bytes | None, object]) -> list[str | None]:
    struct_type = pa.struct(
        {"metadata": pa.binary(), "value": pa.binary(), "typed_value": kind}
    )
    metadata = names("a", "b")
    data = [{"metadata": metadata, "value": v, "typed_value": t} for v, t in rows]
    found: list[str | None] = variant_texts(pa.array(data, struct_type)).to_pylist()
    return found


class TestShredded:
    @pytest.mark.parametrize(
        ("kind", "value", "expected"),
        [
            (pa.int8(), -3, "-3"),
            (pa.bool_(), False, "false"),
            (pa.float32(), 0.1, "0.1"),
            (pa.decimal128(9, 3), Decimal("1.500"), "1.5"),
            (pa.string(), "x", '"x"'),
            (pa.binary(), b"\x01", '"AQ=="'),
            (pa.date32(), 1, '"1970-01-02"'),
            (
                pa.timestamp("us", "UTC"),
                datetime(2024, 1, 1, tzinfo=UTC),
                '"2024-01-01 00:00:00+00:00"',
            ),
            (pa.timestamp("ns"), 1, '"1970-01-01 00:00:00.000000001"'),
            (
                pa.timestamp("us"),
                2**62,
                '"53375995 days since 1970-01-01 14:00:27.387904"',
            ),
            (pa.binary(16), bytes(16), '"00000000-0000-0000-0000-000000000000"'),
        ],
    )
    def test_leaves_are_values(self, kind: pa.DataType, value: object, expected: str):
        assert shredded(kind, (None, value), (text("other"), None), (None, None)) == [
            expected,
            '"other"',
            None,
        ]

    def test_objects_are_put_together_of_columns_and_bytes(self) -> None:
        member = pa.struct({"value": pa.binary(), "typed_value": pa.int64()})
        rest = members(b=(1, text("x")))
        one = {"a": {"value": None, "typed_value": 1}}
        missing = {"a": {"value": None, "typed_value": None}}
        other = {"a": {"value": text("t"), "typed_value": None}}

        found = shredded(
            pa.struct({"a": member}),
            (rest, one),
            (None, missing),
            (rest, other),
            (text("no object"), None),
        )

        assert found == ['{"a":1,"b":"x"}', "{}", '{"a":"t","b":"x"}', '"no object"']

    def test_lists_hold_values_of_either_kind(self) -> None:
        element = pa.struct({"value": pa.binary(), "typed_value": pa.int64()})
        items = [
            {"value": None, "typed_value": 1},
            {"value": text("x"), "typed_value": None},
        ]

        found = shredded(
            pa.list_(element), (None, items), (None, []), (text("y"), None)
        )

        assert found == ['[1,"x"]', "[]", '"y"']

    def test_a_rest_that_is_no_object_is_refused(self) -> None:
        member = pa.struct({"value": pa.binary(), "typed_value": pa.int64()})

        with pytest.raises(VariantError, match="partly shredded object"):
            shredded(pa.struct({"a": member}), (text("x"), {"a": None}))

    def test_a_column_of_another_type_is_refused(self) -> None:
        with pytest.raises(VariantError, match="a part of it is stored as"):
            shredded(pa.duration("us"), (None, 1))
