"""A field of an administrative change is spelled in few modules of the apps."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

APPS = Path(__file__).resolve().parents[2] / "apps"
MOST = 4
"""The model, the subject, access, and a template helper."""
FIELDS = [
    *("hard_limit", "soft_limit", "price"),
    *("with_directory", "with_history", "start_version"),
    *("contact", "allowed_networks", "properties"),
    *("starts_at", "expires_at", "restricted", "schedule"),
]
"""The fields that keep to it so far; the list only grows."""
ELSEWHERE = {
    "properties": ("api", "explorer", "tables", "sharing/api/iceberg"),
    "schedule": ("tables/catalogue/changes",),
    "expires_at": (
        *("accounts", "jobs"),
        *("sharing/answers", "sharing/api", "sharing/shares/received"),
    ),
}
"""The folders where the word is about something else than recipients and tokens.

A Delta table and a namespace of Iceberg have properties, too. API keys, leases, URLs,
credentials of a store and tokens of other providers expire as well. A command of tables
is called `schedule`; its field is `refresh`.
"""


def spelled(tree: ast.AST) -> Iterator[str]:
    """Yield the names, attributes, arguments and texts of a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                yield word
            case ast.keyword(arg=str(word)) | ast.arg(arg=word):
                yield word
            case ast.Constant(value=str(word)):
                yield word


def modules_that_spell(field: str) -> set[str]:
    """Return the modules of the apps that spell a field, without migrations."""
    return {
        path.relative_to(APPS).as_posix()
        for path in APPS.rglob("*.py")
        if "migrations" not in path.parts
        and not path.relative_to(APPS).as_posix().startswith(ELSEWHERE.get(field, ()))
        and field in (text := path.read_text(encoding="utf-8"))
        and field in spelled(ast.parse(text))
    }


def test_each_way_to_spell_a_field_is_found() -> None:
    ways = ["price", "one.price", "f(price=1)", "lambda price: 0", "{'price': 1}"]

    assert all("price" in spelled(ast.parse(way)) for way in ways)
    assert "price" not in spelled(ast.parse("# price\nprices = 'the price'"))


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_is_spelled_in_few_modules(field: str) -> None:
    found = modules_that_spell(field)

    assert found
    assert len(found) <= MOST, sorted(found)
