import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tables.catalogue.names import (
    MAX_PART_LENGTH,
    TableName,
    find_table,
    name_from_path,
    parse_table_name,
    with_suffix,
)
from apps.tables.errors import TableNameError, TableNotRegisteredError
from tests.support import cases
from tests.support.pages.factories import new_table


class TestParseTableName:
    @cases(
        "text, expected",
        {
            "bare": ("orders", TableName("default", "orders")),
            "two parts": ("sales.orders", TableName("sales", "orders")),
            "default": ("default.orders", TableName("default", "orders")),
            "blanks around": (" orders ", TableName("default", "orders")),
            "é": ("Bücher-24_a", TableName("default", "Bücher-24_a")),
        },
    )
    def test_reads_both_parts(self, text: str, expected: TableName) -> None:
        assert parse_table_name(text) == expected

    @pytest.mark.parametrize(
        "text",
        ["", ".", "a.", ".a", "a.b.c", "a b", "a/b", "a%", "a\x00", "..", "x" * 201],
    )
    def test_refuses_what_an_address_could_not_hold(self, text: str) -> None:
        with pytest.raises(TableNameError) as caught:
            parse_table_name(text)

        assert caught.value.code == "table-name-invalid"

    def test_writes_the_default_namespace_as_nothing(self) -> None:
        assert str(TableName("default", "orders")) == "orders"
        assert str(TableName("sales", "orders")) == "sales.orders"


class TestNameFromPath:
    @cases(
        "parts, expected",
        {
            "directly below the root": (("orders",), "orders"),
            "one folder": (("sales", "orders"), "sales.orders"),
            "folders are joined": (("a", "b", "c"), "a_b.c"),
            "odd characters": (("v1.2", "or ders"), "v1_2.or_ders"),
        },
    )
    def test_follows_the_path_below_the_root(self, parts, expected):
        assert str(name_from_path(parts)) == expected

    @given(st.lists(st.text(min_size=1), min_size=1, max_size=4).map(tuple))
    def test_is_always_a_name_that_parses(self, parts: tuple[str, ...]) -> None:
        name = name_from_path(parts)

        assert parse_table_name(f"{name.namespace}.{name.name}") == name


def test_a_suffix_stays_within_the_length() -> None:
    name = with_suffix(TableName("default", "x" * MAX_PART_LENGTH), 12)

    assert name.name.endswith("x_12")
    assert len(name.name) == MAX_PART_LENGTH


@pytest.mark.django_db
@pytest.mark.database
class TestFindTable:
    def test_a_bare_name_finds_the_table_in_default(self) -> None:
        table = new_table("orders")
        new_table("sales.orders")

        assert find_table("orders") == table
        assert find_table("default.orders") == table

    def test_an_unknown_name_says_where_to_look(self) -> None:
        with pytest.raises(TableNotRegisteredError, match="table list"):
            find_table("nothing")
