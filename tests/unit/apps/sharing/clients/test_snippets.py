import ast
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.sharing.clients.snippets import PLACEHOLDER, TableName, snippets
from apps.sharing.errors import NameInvalidError
from apps.sharing.names import check_name
from tests.support import cases

ENDPOINT = "https://share.acme.example/delta-sharing/"
ORDERS = TableName(share="retail", schema="sales", name="orders")
PYTHON = ("pandas", "spark", "polars", "duckdb")


def by_key(*tables, file_name="globex.share", endpoint=ENDPOINT):
    made = snippets(endpoint=endpoint, profile_file_name=file_name, tables=tables)
    return {snippet.key: snippet for snippet in made}


def strings(code: str) -> set[str]:
    """The string literals of Python code, as Python reads them."""
    return {
        node.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def valid_names(kind: str) -> st.SearchStrategy[str]:
    """Names that the protocol's rules allow, quotes and backslashes among them."""

    def is_valid(text: str) -> bool:
        try:
            check_name(text, kind)
        except NameInvalidError:
            return False
        return True

    return st.text("ab_-'\"\\$`{}%#?&<é漢", min_size=1, max_size=12).filter(is_valid)


def test_there_is_one_for_each_tool_in_the_order_of_the_page() -> None:
    assert list(by_key(ORDERS)) == [
        "pandas",
        "spark",
        "polars",
        "duckdb",
        "powerbi",
        "curl",
    ]


@pytest.mark.parametrize("key", PYTHON)
def test_python_code_reads_the_first_table(key: str) -> None:
    code = by_key(ORDERS)[key].text

    assert "globex.share#retail.sales.orders" in strings(code)
    assert "orders" in {n.id for n in ast.walk(ast.parse(code)) if type(n) is ast.Name}


@given(
    share=valid_names("share"), schema=valid_names("schema"), name=valid_names("table")
)
def test_names_of_any_spelling_stay_names(share: str, schema: str, name: str) -> None:
    table = TableName(share=share, schema=schema, name=name)

    made = by_key(table, file_name="gl'o\"b\\ex.share")

    for key in PYTHON:
        assert f"gl'o\"b\\ex.share#{table.full_name}" in strings(made[key].text)
    words = shlex.split(made["curl"].text, comments=True)
    assert "gl'o\"b\\ex.share" in words
    assert next(word for word in words if "://" in word).startswith(ENDPOINT)


@cases(
    "name, variable",
    {
        "capitals": ("Orders", "orders"),
        "a number": ("2024", "data"),
        "a word of Python": ("class", "data"),
        "a name that the code uses": ("url", "data"),
        "other characters": ("bestellungen-übersicht", "data"),
    },
)
def test_a_variable_reads_like_the_table_where_it_can(name: str, variable: str) -> None:
    table = TableName(share="s", schema="t", name=name)

    assert f"\n{variable}.head()" in by_key(table)["pandas"].text


def test_a_table_that_clients_cannot_address_is_passed_over() -> None:
    dotted = TableName(share="a.b", schema="sales", name="orders")
    hashed = TableName(share="a", schema="sales", name="orders#1")

    assert "retail.sales.orders" in by_key(dotted, hashed, ORDERS)["pandas"].text
    assert "a.b.sales.orders" in by_key(dotted)["pandas"].text


def test_placeholders_stand_in_while_nothing_is_shared() -> None:
    assert f"globex.share#{PLACEHOLDER.full_name}" in by_key()["pandas"].text


def test_power_bi_gets_steps_and_the_address_to_copy() -> None:
    steps = by_key(ORDERS)["powerbi"].steps

    assert any(ENDPOINT in step for step in steps)
    assert any("bearerToken in globex.share" in step for step in steps)
    assert not any("https" in step and ENDPOINT not in step for step in steps)
    plain = by_key(ORDERS, endpoint="http://127.0.0.1:8000/delta-sharing/")["powerbi"]
    assert "https" in plain.steps[-1]


def test_curl_takes_the_key_from_the_file_and_not_from_its_arguments() -> None:
    text = by_key(TableName(share="a b", schema="s", name="t"))["curl"].text

    assert "Bearer $" not in text
    assert "-H @-" in text
    assert f"{ENDPOINT}shares/a%20b/all-tables" in text


@pytest.mark.parametrize("key", [*PYTHON, "curl"])
def test_pieces_are_the_text_cut_up(key: str) -> None:
    snippet = by_key(ORDERS)[key]

    assert "".join(text for _, text in snippet.pieces) == snippet.text
    assert {kind for kind, _ in snippet.pieces} <= {"", "c", "s", "k"}
    assert snippet.pieces[0][0] == "c"
