"""What an annotation is, and which physical types may have it."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.files.parquet_schemas import column, element

UTC, LOCAL = True, False


class TestEffectiveType:
    @pytest.mark.parametrize(
        ("converted", "expected"),
        [
            ("UTF8", "STRING"),
            ("TIME_MILLIS", "TIME(isAdjustedToUTC=true,unit=MILLIS)"),
            ("TIMESTAMP_MICROS", "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)"),
            ("UINT_8", "INT(8,false)"),
            ("INT_64", "INT(64,true)"),
            ("MAP_KEY_VALUE", "MAP"),
            ("UNKNOWN(50)", "UNRECOGNIZED_CONVERTED(50)"),
        ],
    )
    def test_comes_from_the_old_annotation_where_there_is_no_new_one(
        self, converted: str, expected: str
    ) -> None:
        node = column(element("c", "INT32", converted_type=converted))

        assert node.annotation is not None
        assert node.annotation.text == expected

    def test_comes_from_the_new_annotation_where_both_contradict(self) -> None:
        logical = ("INT", {1: 16, 2: True})
        node = column(element("c", "INT32", logical=logical, converted_type="UINT_8"))

        assert node.annotation is not None
        assert node.annotation.text == "INT(16,true)"

    def test_of_an_old_decimal_takes_the_scale_0_where_none_is_stored(self) -> None:
        node = column(element("c", "INT32", converted_type="DECIMAL", precision=5))

        assert node.annotation is not None
        assert node.annotation.text == "DECIMAL(5,0)"

    @pytest.mark.parametrize(
        ("logical", "expected"),
        [
            (("OF A LATER DAY", {}), "UNRECOGNIZED(99)"),
            (("FILE", {}), "FILE"),
            (("VARIANT", {}), "VARIANT"),
            (("VARIANT", {1: 2}), "VARIANT(2)"),
        ],
    )
    def test_says_no_more_and_no_less_than_what_is_stored(self, logical, expected):
        node = column(element("c", "BYTE_ARRAY", logical=logical))

        assert node.annotation is not None
        assert node.annotation.text == expected

    def test_keeps_a_time_unit_that_is_not_known(self) -> None:
        logical = ("TIMESTAMP", {1: UTC, 2: {4: {}}})
        node = column(element("c", "INT64", logical=logical))

        assert node.annotation is not None
        assert node.annotation.unit == "UNKNOWN(4)"
        assert node.invalid is None


class TestValidity:
    @pytest.mark.parametrize(
        ("physical", "length", "kind", "fields"),
        [
            ("BYTE_ARRAY", None, "STRING", {}),
            ("BYTE_ARRAY", None, "GEOMETRY", {}),
            ("FIXED_LEN_BYTE_ARRAY", 16, "UUID", {}),
            ("FIXED_LEN_BYTE_ARRAY", 2, "FLOAT16", {}),
            ("INT32", None, "DATE", {}),
            ("INT32", None, "TIME", {1: UTC, 2: {1: {}}}),
            ("INT64", None, "TIME", {1: LOCAL, 2: {3: {}}}),
            ("INT32", None, "INT", {1: 8, 2: False}),
            ("INT64", None, "INT", {1: 64, 2: False}),
            ("INT32", None, "DECIMAL", {1: 9, 2: 9}),
            ("INT64", None, "DECIMAL", {1: 0, 2: 18}),
            ("FIXED_LEN_BYTE_ARRAY", 4, "DECIMAL", {1: 2, 2: 9}),
            ("FIXED_LEN_BYTE_ARRAY", 16, "DECIMAL", {1: 2, 2: 38}),
            ("BYTE_ARRAY", None, "DECIMAL", {1: 2, 2: 76}),
            ("BOOLEAN", None, "UNKNOWN", {}),
        ],
    )
    def test_lets_a_type_annotate_what_the_specification_allows(
        self, physical: str, length: int | None, kind: str, fields: Mapping[int, Any]
    ) -> None:
        node = column(
            element("c", physical, logical=(kind, fields), type_length=length)
        )

        assert node.invalid is None

    @pytest.mark.parametrize(
        ("physical", "length", "kind", "fields", "reason"),
        [
            ("INT32", None, "STRING", {}, "STRING cannot annotate INT32"),
            ("INT64", None, "DATE", {}, "DATE cannot annotate INT64"),
            (
                *("FIXED_LEN_BYTE_ARRAY", 15, "UUID", {}),
                "UUID cannot annotate FIXED_LEN_BYTE_ARRAY(15)",
            ),
            ("INT32", None, "INT", {1: 64, 2: True}, "cannot annotate INT32"),
            ("INT32", None, "INT", {1: 7, 2: True}, r"INT(7,true) cannot annotate"),
            ("INT64", None, "TIME", {1: UTC, 2: {1: {}}}, "cannot annotate INT64"),
            ("INT64", None, "LIST", {}, "LIST cannot annotate INT64"),
            ("INT32", None, "DECIMAL", {1: 0, 2: 10}, "for INT32, at most 9"),
            ("INT64", None, "DECIMAL", {1: 0, 2: 19}, "for INT64, at most 18"),
            ("INT64", None, "DECIMAL", {1: 5, 2: 4}, "between 0 and the precision"),
            ("INT64", None, "DECIMAL", {1: 0, 2: 0}, "must be at least 1"),
            ("INT64", None, "DECIMAL", {1: 0}, "DECIMAL without precision"),
            ("DOUBLE", None, "DECIMAL", {1: 0, 2: 5}, "cannot annotate DOUBLE"),
            (
                *("FIXED_LEN_BYTE_ARRAY", 4, "DECIMAL", {1: 0, 2: 10}),
                "too large for FIXED_LEN_BYTE_ARRAY(4), at most 9",
            ),
        ],
    )
    def test_names_what_does_not_fit(self, physical, length, kind, fields, reason):
        node = column(
            element("c", physical, logical=(kind, fields), type_length=length)
        )

        assert node.invalid is not None
        assert reason in node.invalid

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ([element("value", "BYTE_ARRAY")], "has no metadata field"),
            (
                [element("metadata", "BYTE_ARRAY"), element("value", "BYTE_ARRAY")],
                "metadata must be required",
            ),
            (
                [element("metadata", "INT32"), element("value", "BYTE_ARRAY")],
                "metadata must be binary",
            ),
            ([element("metadata", "BYTE_ARRAY", "required")], "has no value field"),
        ],
    )
    def test_names_what_a_variant_lacks(self, fields: list[Any], reason: str) -> None:
        group = element("v", logical=("VARIANT", {1: 1}), children=len(fields))
        node = column(group, *fields)

        assert node.invalid is not None
        assert reason in node.invalid


class TestSortOrder:
    @pytest.mark.parametrize(
        ("physical", "logical", "expected"),
        [
            ("INT64", None, "signed"),
            ("BYTE_ARRAY", None, "unsigned"),
            ("INT96", None, "undefined"),
            ("INT32", ("INT", {1: 32, 2: False}), "unsigned"),
            ("BYTE_ARRAY", ("STRING", {}), "unsigned"),
            ("BYTE_ARRAY", ("DECIMAL", {1: 0, 2: 5}), "signed"),
            ("BYTE_ARRAY", ("GEOMETRY", {}), "undefined"),
            ("INT64", ("TIMESTAMP", {1: UTC, 2: {4: {}}}), "undefined"),
            ("BOOLEAN", ("UNKNOWN", {}), "undefined"),
        ],
    )
    def test_is_that_of_the_type(self, physical, logical, expected):
        assert column(element("c", physical, logical=logical)).sort_order == expected
