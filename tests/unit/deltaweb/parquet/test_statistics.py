"""Bounds of column chunks: believed by the rules, and rendered by type."""

from typing import Any

import pytest

from deltaweb.parquet.statistics import read_statistics
from tests.support.files.parquet_schemas import column, element

TYPE_ORDER = "TYPE_ORDER"


def _int(value: int) -> bytes:
    return value.to_bytes(4, "little", signed=value < 0)


class TestBelief:
    def test_needs_a_column_order_for_the_new_fields(self) -> None:
        raw = {"min_value": _int(1), "max_value": _int(2)}
        node = column(element("c", "INT32"))

        assert read_statistics(raw, node, TYPE_ORDER).ignored_because is None
        assert "no column_orders" in str(
            read_statistics(raw, node, None).ignored_because
        )
        assert "not known" in str(
            read_statistics(raw, node, "UNKNOWN(9)").ignored_because
        )

    def test_falls_back_to_the_old_fields_where_there_is_no_column_order(self) -> None:
        raw = {
            "min": _int(1),
            "max": _int(2),
            "min_value": _int(5),
            "max_value": _int(6),
        }
        node = column(element("c", "INT32"))

        assert read_statistics(raw, node, None).min == 1
        assert read_statistics(raw, node, TYPE_ORDER).min == 5

    @pytest.mark.parametrize(
        ("physical", "stored"),
        [
            ("BYTE_ARRAY", {"converted_type": "UTF8"}),
            ("INT32", {"converted_type": "UINT_32"}),
            ("BYTE_ARRAY", {"converted_type": "DECIMAL", "precision": 5, "scale": 0}),
        ],
    )
    def test_of_old_fields_is_for_signed_numbers(self, physical, stored):
        node = column(element("c", physical, **stored))
        different = {"min": _int(1), "max": _int(2)}
        equal = {"min": _int(7), "max": _int(7)}

        assert "deprecated" in str(
            read_statistics(different, node, TYPE_ORDER).ignored_because
        )
        assert read_statistics(equal, node, TYPE_ORDER).ignored_because is None

    def test_is_not_given_to_a_type_without_an_order(self) -> None:
        interval: dict[str, Any] = {"converted_type": "INTERVAL", "type_length": 12}
        node = column(element("c", "FIXED_LEN_BYTE_ARRAY", **interval))
        raw = {"min_value": bytes(12), "max_value": bytes(12)}

        assert "undefined" in str(
            read_statistics(raw, node, TYPE_ORDER).ignored_because
        )

    def test_is_not_given_to_bounds_of_a_wrong_length(self) -> None:
        raw = {"min_value": _int(1), "max_value": b"12345678"}
        found = read_statistics(raw, column(element("c", "INT32")), TYPE_ORDER)

        assert found.ignored_because == "max: 8 bytes where 4 are needed"
        assert (found.min, found.max) == (1, None)

    def test_is_not_given_to_nan_but_to_the_bound_beside_it(self) -> None:
        nan, one = b"\0\0\xc0\x7f", b"\0\0\x80\x3f"
        node = column(element("c", "FLOAT"))

        low = read_statistics({"min_value": nan, "max_value": one}, node, TYPE_ORDER)
        high = read_statistics({"min_value": one, "max_value": nan}, node, TYPE_ORDER)
        none = read_statistics({"min_value": nan, "max_value": nan}, node, TYPE_ORDER)

        assert (low.min, low.max, low.ignored_because) == (None, 1.0, None)
        assert (high.min, high.max, high.ignored_because) == (1.0, None, None)
        assert none.ignored_because == "max: it is NaN"


class TestBounds:
    @pytest.mark.parametrize(
        ("physical", "stored", "raw", "expected"),
        [
            ("INT32", {"converted_type": "UINT_8"}, b"\xff\0\0\0", 255),
            ("INT32", {"converted_type": "DATE"}, _int(-1), "1969-12-31"),
            (
                *("INT32", {"converted_type": "DATE"}, _int(2**31 - 1)),
                {"raw": 2147483647, "unit": "DAYS"},
            ),
            (
                *("INT64", {"converted_type": "TIMESTAMP_MILLIS"}, b"\xff" * 8),
                "1969-12-31T23:59:59.999Z",
            ),
            (
                *("INT64", {"logical": ("TIMESTAMP", {1: False, 2: {3: {}}})}),
                *(bytes(8), "1970-01-01T00:00:00.000000000"),
            ),
            (
                *("INT32", {"logical": ("TIME", {1: True, 2: {1: {}}})}),
                *(_int(86_399_999), "23:59:59.999Z"),
            ),
            (
                *("BYTE_ARRAY", {"logical": ("DECIMAL", {1: 3, 2: 9})}),
                *(b"\xff", "-0.001"),
            ),
            ("BYTE_ARRAY", {"converted_type": "UTF8"}, b"\xc3\xa9", "é"),
            ("BYTE_ARRAY", {"converted_type": "UTF8"}, b"\xff", {"hex": "ff"}),
            ("BYTE_ARRAY", {}, b"ab", {"hex": "6162"}),
            (
                *(
                    "FIXED_LEN_BYTE_ARRAY",
                    {"type_length": 2, "logical": ("FLOAT16", {})},
                ),
                *(b"\x00\x3c", 1.0),
            ),
        ],
    )
    def test_are_rendered_by_their_type(self, physical, stored, raw, expected):
        node = column(element("c", physical, **stored))
        found = read_statistics({"min_value": raw, "max_value": raw}, node, TYPE_ORDER)

        assert found.ignored_because is None
        assert found.max == expected

    def test_of_an_invalid_annotation_are_those_of_the_physical_type(self) -> None:
        node = column(element("c", "INT64", converted_type="DATE"))
        raw = {"min_value": bytes(8), "max_value": bytes(8)}

        assert read_statistics(raw, node, TYPE_ORDER).min == 0
