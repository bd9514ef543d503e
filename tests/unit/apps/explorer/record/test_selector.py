"""The leaves of a variant name the columns that have their values."""

import pytest

from apps.explorer.record.selector import tree_of
from deltaweb.delta.values.variant_tree import VariantNode


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("tinyint", "v:$::bigint"),
        ("decimal", "v:$::double"),
        ("uuid", "v:$::string"),
        ("timestamp_ntz", "v:$::timestamp_ntz"),
        ("null", "v:$::variant"),
        ("a later type", ""),
    ],
)
def test_a_column_holds_the_values_of_other_rows(kind: str, column: str) -> None:
    assert tree_of("v", VariantNode("", kind, "1")).column == column


def test_a_column_is_named_by_its_path() -> None:
    leaf = VariantNode("0", "date", "2026-11-23")
    odd = VariantNode("'\"", "date", "2026-11-23")
    days = VariantNode("some days", "array", nodes=(leaf,))

    tree = tree_of("v", VariantNode("", "object", nodes=(days, odd)))

    assert tree.column == tree.nodes[0].column == ""
    assert tree.nodes[0].nodes[0].column == "v:$['some days'][0]::date"
    assert tree.nodes[1].column == ""  # no path leads there
