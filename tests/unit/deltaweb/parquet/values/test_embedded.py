"""Values inside values: BSON, geometries, variants."""

import struct

import pytest

from deltaweb.parquet.values.bson import render_bson
from deltaweb.parquet.values.variant import (
    VariantError,
    decode_variant,
    parse_dictionary,
)
from deltaweb.parquet.values.wkb import render_wkb


def _bson(body: bytes) -> bytes:
    return struct.pack("<i", len(body) + 5) + body + b"\0"


class TestBson:
    def test_is_read_as_json(self) -> None:
        array = _bson(b"\x080\0\x01")
        raw = _bson(b"\x02a\0\x02\0\0\0b\0" + b"\x04l\0" + array + b"\x0an\0")

        assert render_bson(raw) == {"a": "b", "l": [True], "n": None}

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"\xff\xff\xff\x7f\0",
            _bson(b"\x02a\0\xff\xff\xff\x7fb\0"),
            _bson(b"\x02a\0\0\0\0\0"),
            _bson(b"\x44a\0"),
            _bson(b"") + b"x",
        ],
    )
    def test_that_is_none_is_shown_as_bytes(self, raw: bytes) -> None:
        assert render_bson(raw) == {"hex": raw.hex()}

    def test_that_nests_too_deep_is_shown_as_bytes(self) -> None:
        raw = _bson(b"")
        for _ in range(40):
            raw = _bson(b"\x03d\0" + raw)

        assert render_bson(raw) == {"hex": raw.hex()}


def _line(*points: tuple[float, float]) -> bytes:
    body = b"".join(struct.pack("<2d", *point) for point in points)
    return struct.pack("<BII", 1, 2, len(points)) + body


class TestGeometry:
    @pytest.mark.parametrize(
        ("raw", "text"),
        [
            (struct.pack("<BI2d", 1, 1, 30, 10.5), "POINT (30 10.5)"),
            (struct.pack(">BI2d", 0, 1, 30, 10.5), "POINT (30 10.5)"),
            (struct.pack("<BI3d", 1, 1001, 1, 2, 3), "POINT Z (1 2 3)"),
            (struct.pack("<BI2d", 1, 1, *[float("nan")] * 2), "POINT EMPTY"),
            (_line((0, 0), (1, 2)), "LINESTRING (0 0, 1 2)"),
            (
                struct.pack("<BII", 1, 5, 1) + _line((0, 0), (1, 2)),
                "MULTILINESTRING ((0 0, 1 2))",
            ),
            (
                struct.pack("<BII", 1, 7, 1) + _line((0, 0)),
                "GEOMETRYCOLLECTION (LINESTRING (0 0))",
            ),
        ],
    )
    def test_is_text(self, raw: bytes, text: str) -> None:
        assert render_wkb(raw) == text

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            struct.pack("<BII", 1, 2, 2**31),
            struct.pack("<BI", 1, 99),
            _line((0, 0)) + b"x",
            struct.pack("<BII", 1, 7, 1) * 20,
        ],
    )
    def test_that_is_none_is_shown_as_bytes(self, raw: bytes) -> None:
        assert render_wkb(raw) == {"hex": raw.hex()}


class TestVariant:
    NAMES = ("a", "b")

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            (b"\x00", None),
            (b"\x04", True),
            (b"\x0c\xfe", -2),
            (b"\x20\x02\x39\x30\0\0", 123.45),
            (b"\x2c\x01\0\0\0", "1970-01-02"),
            (b"\x30\x40\x42\x0f\0\0\0\0\0", "1970-01-01 00:00:01+00"),
            (b"\x09hi", "hi"),
            (b"\x03\x02\x00\x01\x02\x04\x00", [True, None]),
            (b"\x02\x01\x01\x00\x02\x0c\x07", {"b": 7}),
        ],
    )
    def test_is_json(self, raw: bytes, expected: object) -> None:
        assert decode_variant(raw, self.NAMES) == expected

    @pytest.mark.parametrize(
        ("raw", "reason"),
        [
            (b"", "ends in the middle"),
            (b"\x09h", "ends in the middle"),
            (b"\xfc", "type 63 of a value is not known"),
            (b"\x02\x01\x05\x00\x02\x0c\x07", "not in its metadata"),
            (b"\x03\xff\x00", "ends in the middle"),
        ],
    )
    def test_that_is_none_says_why(self, raw: bytes, reason: str) -> None:
        with pytest.raises(VariantError, match=reason):
            decode_variant(raw, self.NAMES)

    def test_that_nests_too_deep_is_refused(self) -> None:
        raw = b"\x00"
        for _ in range(80):
            raw = b"\x03\x01\x00\x7f" + raw

        with pytest.raises(VariantError, match="nested more than"):
            decode_variant(raw, self.NAMES)

    def test_whose_members_lie_at_one_place_ends(self) -> None:
        raw = b"\x00"
        for _ in range(20):
            raw = b"\x03\x08" + b"\x00" * 9 + raw

        with pytest.raises(VariantError, match="contains itself"):
            decode_variant(raw, self.NAMES)

    def test_has_names_in_its_metadata(self) -> None:
        assert parse_dictionary(b"\x01\x02\x00\x01\x03abc") == ["a", "bc"]

    @pytest.mark.parametrize(
        "raw", [b"", b"\x02\0\0", b"\x01\xff\0", b"\x01\x01\x01\x00a"]
    )
    def test_has_no_names_where_its_metadata_is_none(self, raw: bytes) -> None:
        with pytest.raises(VariantError):
            parse_dictionary(raw)
