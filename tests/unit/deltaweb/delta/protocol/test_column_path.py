"""Columns are found by path and by name."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.column_path import (
    column_field,
    join_names,
    resolve_column,
    select_leaves,
    split_names,
)
from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructField,
    StructType,
    leaf_fields,
)
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from tests.support import cases

LONG, DATE, STRING = (PrimitiveType(name) for name in ("long", "date", "string"))
INNER = StructField("b", STRING)
SCHEMA = StructType(
    parse_columns_ddl("`a.b` BIGINT, a STRUCT<b: STRING, C: DATE>, l ARRAY<BIGINT>")
)


class TestColumns:
    def test_leaves_are_paths_and_never_look_into_lists(self) -> None:
        assert [leaf.path for leaf in leaf_fields(SCHEMA)] == [
            ("a.b",),
            ("a", "b"),
            ("a", "C"),
            ("l",),
        ]

    @cases(
        "name, path",
        {
            "a top-level name wins, dots and all": ("A.B", ("a.b",)),
            "names one by one": (("a", "b"), ("a", "b")),
            "dots lead into structs, case aside": ("A.c", ("a", "C")),
            "a list": ("l", ("l",)),
        },
    )
    def test_are_found_by_name(self, name: str | tuple[str, ...], path: Any) -> None:  # noqa: ANN401 # a tuple
        assert resolve_column(SCHEMA, name) == path
        assert column_field(SCHEMA, path).name == path[-1]

    @pytest.mark.parametrize("name", ["", "b", "a.x", "l.element", ("a", "b", "c")])
    def test_that_are_none_are_named_with_the_choices(self, name):
        with pytest.raises(ColumnNotFoundError) as caught:
            resolve_column(SCHEMA, name)

        assert "a.b, a, l" in caught.value.hint

    def test_field_at_a_path_that_is_none_is_refused(self) -> None:
        with pytest.raises(ColumnNotFoundError):
            column_field(SCHEMA, ("a", "zz"))
        with pytest.raises(ColumnNotFoundError):
            column_field(SCHEMA, ("zz", "a"))

    def test_select_the_leaves_below_them(self) -> None:
        assert [leaf.path for leaf in select_leaves(SCHEMA, ["l", "a"])] == [
            ("a", "b"),
            ("a", "C"),
            ("l",),
        ]

    def test_of_a_struct_are_found_and_selected_by_name(self) -> None:
        assert (SCHEMA.find("L"), SCHEMA.find("b")) == (SCHEMA.fields[2], None)
        assert SCHEMA.select(("l", "a.b")).names == ("a.b", "l")
        assert StructType(()).names == ()


LISTS = {
    "names": ("a,b", ["a", "b"]),
    "spaces": (" a , b ,", ["a", "b"]),
    "nothing": (" , ", []),
    "a comma": ("`net,gross`,id", ["net,gross", "id"]),
    "a dot": ("`a.b`", ["a.b"]),
    "a path": ("a.b,c", ["a.b", "c"]),
    "a quoted path": ("a.`b,c`,d", ["a.`b,c`", "d"]),
    "a backtick": ("`a``b`,c", ["a`b", "c"]),
    "a single backtick": ("a`b", ["a`b"]),
    "backticks that are not in pairs": ("a`b,c", ["a`b", "c"]),
}


@cases("text, names", LISTS)
def test_a_list_of_names(text: str, names: list[str]) -> None:
    assert split_names(text) == names
    assert split_names(join_names(names)) == names
    assert split_names(join_names(names, ", ")) == names


@given(
    st.lists(st.text("ab.,`/ é", min_size=1, max_size=5).map(str.strip).filter(bool))
)
def test_a_list_of_names_is_read_back(names: list[str]) -> None:
    assert split_names(join_names(names)) == names
