"""Columns of CHAR(n), whose texts Spark pads with blanks wherever they are read.

A text may be stored as it came or padded, so it is padded here, and so is a literal
that it is compared with. What this does not do is refused by the name of the column:
else rows would be skipped that Spark finds.

Source: the documentation of Spark SQL, "Data Types", `CharType(length)`; the metadata
is the reference implementation's.
"""

import re
from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from deltaweb.conditions.sql import COMPARISONS, column_names, unwrapped
from deltaweb.delta.errors import ColumnNotFoundError
from deltaweb.delta.protocol.column_path import ColumnPath, resolve_column
from deltaweb.delta.protocol.schema import StructField, StructType, fields_in
from deltaweb.delta.protocol.schema.field_keys import CHAR_TYPE
from deltaweb.expressions.errors import ExpressionError
from deltaweb.expressions.node import BoundExpression, NotTranslatedError

_CHAR: Final = re.compile(r"(?<![a-z])char\(\s*([0-9]{1,9})\s*\)", re.IGNORECASE)
_COMPARED: Final = (*COMPARISONS, exp.NullSafeNEQ)


def char_length(schema: StructType, path: ColumnPath) -> int | None:
    """Return how long the texts of a column are; None where it is not of CHAR."""
    fields = [*_fields(schema, path)]
    for field in fields[:-1]:
        if _said(field) and _CHAR.search(_said(field)):
            message = f"{'.'.join(path)!r} is in a column with parts of CHAR"
            raise NotTranslatedError(message)
    found = _CHAR.fullmatch(_said(fields[-1]).strip())
    return int(found[1]) if found else None


def padded(node: BoundExpression, length: int | None) -> BoundExpression:
    """Return the texts of a column of CHAR as Spark reads them; others as they are."""
    if length is None or not pa.types.is_string(node.kind):
        return node
    return BoundExpression(
        node.kind, lambda rows: pc.utf8_rpad(node.values(rows), length)
    )


def with_padded_literals(tree: exp.Expr, schema: StructType) -> exp.Expr:
    """Return SQL whose literals are as long as the columns they are compared with."""
    if not _has_char(schema):
        return tree
    tree = tree.copy()
    for node in [*tree.find_all(*_COMPARED, exp.In, exp.Between, exp.Case)]:
        _pad(node, schema)
    return tree


def refuse_char(sql: str, schema: StructType) -> None:
    """Refuse SQL that names a column of CHAR, where another engine evaluates it."""
    for _, field in fields_in(schema):
        name = re.escape(field.name)
        if _CHAR.search(_said(field)) and re.search(
            rf"(?<!\w){name}(?!\w)", sql, re.IGNORECASE
        ):
            reason = (
                f"{field.name!r} is of {_said(field).upper()}, whose texts are padded "
                "only by what is evaluated in process"
            )
            raise ExpressionError(sql=sql, reason=reason)


def _pad(node: exp.Expr, schema: StructType) -> None:
    operands = [
        operand
        for operand in (
            node.this,
            node.args.get("expression"),
            node.args.get("low"),
            node.args.get("high"),
            *(node.expressions if isinstance(node, exp.In) else ()),
            *(branch.this for branch in node.args.get("ifs") or ()),
        )
        if isinstance(operand, exp.Expr)
    ]
    if isinstance(node, exp.Case) and node.this is None:
        return
    lengths = {
        length for one in operands if (length := _length(one, schema)) is not None
    }
    if not lengths:
        return
    if len(lengths) > 1:
        message = "columns of CHAR of different lengths are not compared here"
        raise NotTranslatedError(message)
    (length,) = lengths
    for operand in map(unwrapped, operands):
        if isinstance(operand, exp.Literal) and operand.is_string:
            operand.set("this", operand.name.rstrip(" ").ljust(length))


def _length(operand: exp.Expr, schema: StructType) -> int | None:
    operand = unwrapped(operand)
    if not isinstance(operand, exp.Column | exp.Dot):
        return None
    try:
        return char_length(schema, resolve_column(schema, column_names(operand)))
    except ColumnNotFoundError:
        return None


def _fields(schema: StructType, path: ColumnPath) -> Iterator[StructField]:
    struct: object = schema
    for name in path:
        if not isinstance(struct, StructType):
            return
        field = struct.find(name)
        if field is None:
            return
        yield field
        struct = field.data_type


def _has_char(schema: StructType) -> bool:
    return any(_CHAR.search(_said(field)) for _, field in fields_in(schema))


def _said(field: StructField) -> str:
    """Return the type that a column was declared with, as far as it is a text's."""
    said = field.metadata.get(CHAR_TYPE)
    if said is None:
        said = getattr(field.data_type, "spelling", "")
    return str(said or "")
