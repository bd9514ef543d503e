"""Only one module casts values to the types of columns.

A cast of Spark matches the fields of a struct by position.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CASTS = {"cast", "try_cast", "astype"}
STORED_VALUES = "deltaweb/spark/writing/session/stored_values.py"
OF_ARROW = {
    "deltaweb/spark/data_files/feed_digest.py",
    "deltaweb/spark/index_files.py",
    "deltaweb/spark/log/reader.py",
    "deltaweb/spark/writing/file_rows.py",
    "deltaweb/spark/writing/source/session_rows.py",
}
"""Modules whose casts are those of Arrow."""


def casts(text: str) -> list[str]:
    """Return casts that may be to the type of a column.

    Neither those to a type that is named, nor those of Arrow's own function.
    """
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CASTS
        and ast.unparse(node.func) != "pc.cast"
        and not all(is_named(one) for one in node.args)
    ]


def is_named(kind: ast.expr) -> bool:
    return isinstance(kind, ast.Constant) or ast.unparse(kind).startswith("np.")


def test_values_are_cast_to_types_of_columns_in_one_module() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): casts(path.read_text(encoding="utf-8"))
        for path in (ROOT / "deltaweb/spark").rglob("*.py")
    }
    places = {place for place, some in found.items() if some}

    assert places - OF_ARROW == {STORED_VALUES}


def test_a_cast_to_a_type_of_a_column_is_seen() -> None:
    assert casts("value.cast(field.dataType)") == ["value.cast(field.dataType)"]
    assert casts("F.lit(1).try_cast(kind)") != []
    assert casts('F.lit(1).cast("int")') == []
