"""A condition as every client may mean it, so that no matching row is lost.

Understood is what `refuse` understands of one column beside values, and more of what
query engines send: `CAST(partitionValues.day AS DATE)`, the suffixes of Spark's
numbers, `isnotnull(a)`. Where that has one meaning, this keeps every meaning that
some client may have in mind.
"""

from dataclasses import replace

from deltaweb.conditions import tree
from deltaweb.conditions.bounds import (
    Bounds,
    denied,
    exactly,
)
from deltaweb.conditions.casts import cast_literal, keeps_values, type_name
from deltaweb.conditions.columns import (
    TypedColumn,
    check_comparable,
    check_stated_type,
    find_hinted_column,
)
from deltaweb.conditions.common_type import means_each_value
from deltaweb.conditions.exact import like_pattern
from deltaweb.conditions.interpretation import Interpretation, refused
from deltaweb.conditions.loose import compare_loosely
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import IsNull, Like, Not


def widen(node: tree.Node, schema: StructType) -> Bounds:
    """The condition over the columns of `schema`, from both sides.

    Raises:
        PredicateError: It has no meaning that every client shares.
    """
    return _Widening(schema, compare_loosely).condition(node)


class _Widening(Interpretation):
    """Keeps every meaning that some client may have in mind."""

    def leaf(self, node: tree.Node) -> Bounds:
        """What a condition means; some functions are conditions."""
        match node:
            case tree.Call("isnull", (operand,)):
                return exactly(IsNull(self.column(operand).path))
            case tree.Call("isnotnull", (operand,)):
                return denied(exactly(IsNull(self.column(operand).path)))
            case tree.Call("startswith", (operand, text)):
                column = self.text_column(operand)
                prefix = self.value(text)
                if prefix.kind != "string" or prefix.other_text:
                    raise refused(node, "has no prefix of text")
                return exactly(Like(column.path, f"{_escaped(prefix.text)}%"))
        return super().leaf(node)

    def compared(self, node: tree.Compare) -> Bounds:
        """`a < 5`."""
        if isinstance(node.right, tree.Literal) and node.right.kind == "null":
            raise refused(node, "compares with NULL, which is never true")
        return super().compared(node)

    def like(self, node: tree.Like) -> Bounds:
        """`a LIKE 'x%'`, with ESCAPE.

        A backslash escapes to some clients and is text to others, so that only what
        stands before it counts.
        """
        if node.ignore_case:
            raise refused(node, "is not a condition")
        column = self.text_column(node.operand)
        pattern = self.value(node.pattern)
        if pattern.kind != "string":
            raise refused(node, "has no pattern of text")
        text, backslash, _ = (pattern.other_text or pattern.text).partition("\\")
        if node.escape is not None:
            escape = self.value(node.escape).text
            if backslash:
                raise refused(node, "escapes in two ways")
            text = like_pattern(text, escape)
        elif backslash:
            is_null = IsNull(column.path)
            return Bounds(Like(column.path, f"{text}%"), Not(is_null), is_null)
        return exactly(Like(column.path, text))

    def listed(self, node: tree.OneOf) -> Bounds:
        """`a IN (1, 2)`, where no client reads the list otherwise."""
        own = self.comparable(node.operand).data_type
        if not means_each_value(own, [self.value(value) for value in node.values]):
            raise refused(node, "compares as what depends on the client")
        return super().listed(node)

    def text_column(self, operand: tree.Operand) -> TypedColumn:
        """A column of text."""
        column = self.comparable(operand)
        if type_name(column.data_type) != "string":
            raise refused(operand, "is no column of text")
        return column

    def column(self, operand: tree.Operand) -> TypedColumn:
        """The column that an operand names, through casts that change no value."""
        if not isinstance(operand, tree.Column):
            raise refused(operand, "is not a column")
        column = find_hinted_column(self.schema, operand.names)
        if not all(keeps_values(column.data_type, cast) for cast in operand.casts):
            raise refused(operand, "may change the values of its column")
        if operand.value_type:
            check_stated_type(column, operand.value_type)
        return column

    def comparable(self, operand: tree.Operand) -> TypedColumn:
        """A column whose values all clients compare alike."""
        column = self.column(operand)
        check_comparable(self.schema, column)
        return column

    def value(self, operand: tree.Operand) -> tree.Literal:
        """The literal that an operand writes, if no cast may change it."""
        if not isinstance(operand, tree.Literal):
            raise refused(operand, "is not a value")
        found: tree.Literal | None = operand
        if operand.kind == "number" and "e" in operand.text.lower():
            found = replace(operand, kind="double")
        for cast in operand.casts:
            found = found and cast_literal(found, cast)
        if found is None:
            raise refused(operand, "may change its value")
        return found


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "%_\\" else c for c in text)
