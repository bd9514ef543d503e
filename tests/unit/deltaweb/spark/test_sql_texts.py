"""Texts become Columns of Spark in one module, which checks them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKED = "deltaweb/spark/writing/session/checked_sql.py"
TAKES_SQL = {"expr", "selectExpr", "sql", "call_function", "parseExpression"}
TAKES_CONDITIONS = {"where", "filter"}


def _named(node: ast.AST) -> str:
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _texts(function: ast.FunctionDef) -> set[str]:
    """Return the parameters of a function that are texts, by their annotations."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return {
        one.arg
        for one in every
        if one.annotation is not None and "str" in ast.unparse(one.annotation).split()
    }


def _is_text(node: ast.AST, texts: set[str]) -> bool:
    """Whether an argument is SQL that is made elsewhere, as far as the tree shows."""
    match node:
        case ast.JoinedStr():
            return True
        case ast.Name(name):
            return name in texts
        case ast.Attribute(attr=name):
            return name in {"sql", "where", "condition", "on"}
        case ast.BinOp(ast.Constant(str()), _, _):
            return True
        case _:
            return False


def handed_to_spark(source: str) -> Iterator[str]:
    """Yield the calls that hand Spark a text which is not a constant."""
    tree = ast.parse(source)
    texts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            texts |= _texts(node)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = _named(node.func)
        taken = [*node.args, *(keyword.value for keyword in node.keywords)]
        if name in TAKES_SQL:
            taken = taken[:1] if name == "call_function" else taken
            if not all(isinstance(one, ast.Constant) for one in taken):
                yield ast.unparse(node)
        elif name in TAKES_CONDITIONS and any(_is_text(one, texts) for one in taken):
            yield ast.unparse(node)


def test_only_one_module_hands_texts_to_spark() -> None:
    found = set()
    for top in ("deltaweb", "apps"):
        for path in sorted(Path(top).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            # Where Spark is not imported, `sql` and `filter` are those of others.
            if "pyspark" in source and any(handed_to_spark(source)):
                found.add(path.as_posix())

    assert found == {CHECKED, "deltaweb/spark/driver/pyspark_internals.py"}


@pytest.mark.parametrize(
    "call",
    [
        "F.expr(where)",
        "expr(rule.sql)",
        "spark.sql(f'SELECT {name}')",
        "rows.selectExpr('a', text)",
        "rows.where(where)",
        "rows.filter(request.where)",
        "rows.filter(f'{name} > 1')",
        "F.call_function(name, value)",
    ],
)
def test_a_text_is_seen(call: str) -> None:
    source = f"def f(rows, request, where: str | None): return {call}"

    assert [*handed_to_spark(source)] == [call]


@pytest.mark.parametrize(
    "call",
    [
        "F.expr('count(*)')",
        "rows.where(sql_column(rows, where))",
        "rows.filter(F.col('a') > 1)",
        "rows.filter(mask)",
    ],
)
def test_a_constant_is_none(call: str) -> None:
    source = f"def f(rows, mask: pa.Array, where: str | None): return {call}"

    assert [*handed_to_spark(source)] == []
