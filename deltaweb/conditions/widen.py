"""A condition as every client may mean it, so that no matching row is lost.

Understood are columns beside values, and what query engines make of them:
`CAST(partitionValues.day AS DATE)`, the suffixes of Spark's numbers, `isnotnull(a)`.
Where clients differ, every meaning is kept that some client may have in mind.
"""

from dataclasses import dataclass, replace

from deltaweb.conditions import tree
from deltaweb.conditions.bounds import (
    Bounds,
    all_of,
    any_of,
    denied,
    exactly,
    never_unknown,
)
from deltaweb.conditions.casts import cast_literal, keeps_values, type_name
from deltaweb.conditions.columns import (
    TypedColumn,
    check_comparable,
    check_stated_type,
    find_hinted_column,
    is_boolean,
)
from deltaweb.conditions.common_type import means_each_value
from deltaweb.conditions.exact import like_pattern
from deltaweb.conditions.loose import compare_loosely
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import IsNull, Like, Not


def widen(node: tree.Node, schema: StructType) -> Bounds:
    """The condition over the columns of `schema`, from both sides."""
    return _Widening(schema).condition(node)


@dataclass(frozen=True)
class _Widening:
    """Keeps every meaning that some client may have in mind."""

    schema: StructType

    def condition(self, node: tree.Node) -> Bounds:
        match node:
            case tree.And(parts):
                return all_of([self.condition(part) for part in parts])
            case tree.Or(parts):
                return any_of([self.condition(part) for part in parts])
            case tree.Not(part):
                return denied(self.condition(part))
        return self.leaf(node)

    def leaf(self, node: tree.Node) -> Bounds:
        """What a condition without conditions in it means."""
        match node:
            case tree.Compare("IS" | "<=>"):
                return self.same(node)
            case tree.Compare():
                return self.compared(node)
            case tree.OneOf():
                return self.listed(node)
            case tree.Like():
                return self.like(node)
            case tree.Column():
                return self.boolean(node)
        return self.called(node)

    def compared(self, node: tree.Compare) -> Bounds:
        """`a < 5`."""
        if isinstance(node.right, tree.Literal) and node.right.kind == "null":
            raise _refused(node, "compares with NULL, which is never true")
        self.check_pair(node)
        column = self.comparable(node.left)
        return compare_loosely(column, node.operator, self.value(node.right))

    def same(self, node: tree.Compare) -> Bounds:
        """`a <=> 5`, `a IS NULL` and `a IS TRUE`, which are never unknown."""
        if node.operator == "IS":
            match node.left, node.right:
                case tree.Column(), tree.Literal("null" | "boolean", casts=()):
                    pass
                case _:
                    raise _refused(node, "does not test a column")
        self.check_pair(node)
        literal = self.value(node.right)
        if literal.kind == "null":
            return exactly(IsNull(self.column(node.left).path))
        column = self.comparable(node.left)
        return never_unknown(compare_loosely(column, "=", literal), column.path)

    def check_pair(self, node: tree.Compare) -> None:
        """Refuse what does not compare a column with a value."""
        if isinstance(node.left, tree.Column) and not isinstance(
            node.right, tree.Column
        ):
            return
        raise _refused(node, "does not compare a column with a value")

    def listed(self, node: tree.OneOf) -> Bounds:
        """`a IN (1, 2)`, where no client reads the list otherwise."""
        column = self.comparable(node.operand)
        values = [self.value(value) for value in node.values]
        if not means_each_value(column.data_type, values):
            raise _refused(node, "compares as what depends on the client")
        if not values:
            raise _refused(node, "has no list of values")
        return any_of([compare_loosely(column, "=", value) for value in values])

    def boolean(self, node: tree.Column) -> Bounds:
        column = self.column(node)
        if not is_boolean(column):
            words = "is not a condition, since it is not a boolean"
            raise PredicateError(reason=f"column {column.shown} {words}")
        true = tree.Literal("boolean", "true")
        return compare_loosely(self.comparable(node), "=", true)

    def called(self, node: tree.Node) -> Bounds:
        match node:
            case tree.Call("isnull", (operand,)):
                return exactly(IsNull(self.column(operand).path))
            case tree.Call("isnotnull", (operand,)):
                return denied(exactly(IsNull(self.column(operand).path)))
            case tree.Call("startswith", (operand, text)):
                column = self.text_column(operand)
                prefix = self.value(text)
                if prefix.kind != "string" or prefix.other_text:
                    raise _refused(node, "has no prefix of text")
                return exactly(Like(column.path, f"{_escaped(prefix.text)}%"))
        raise _refused(node, "is not a condition")

    def like(self, node: tree.Like) -> Bounds:
        """`a LIKE 'x%'`, with ESCAPE.

        A backslash escapes to some clients and is text to others, so that only what
        stands before it counts.
        """
        if node.ignore_case:
            raise _refused(node, "is not a condition")
        column = self.text_column(node.operand)
        pattern = self.value(node.pattern)
        if pattern.kind != "string":
            raise _refused(node, "has no pattern of text")
        text, backslash, _ = (pattern.other_text or pattern.text).partition("\\")
        if node.escape is not None:
            if backslash:
                raise _refused(node, "escapes in two ways")
            text = like_pattern(text, self.value(node.escape).text)
        elif backslash:
            is_null = IsNull(column.path)
            return Bounds(Like(column.path, f"{text}%"), Not(is_null), is_null)
        return exactly(Like(column.path, text))

    def text_column(self, operand: tree.Operand) -> TypedColumn:
        column = self.comparable(operand)
        if type_name(column.data_type) != "string":
            raise _refused(operand, "is not a text column")
        return column

    def column(self, operand: tree.Operand) -> TypedColumn:
        """The column that an operand names, through casts that change no value."""
        if not isinstance(operand, tree.Column):
            raise _refused(operand, "is not a column")
        column = find_hinted_column(self.schema, operand.names)
        if not all(keeps_values(column.data_type, cast) for cast in operand.casts):
            raise _refused(operand, "may change the values of its column")
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
            raise _refused(operand, "is not a value")
        found: tree.Literal | None = operand
        if operand.kind == "number" and "e" in operand.text.lower():
            found = replace(operand, kind="double")
        for cast in operand.casts:
            found = found and cast_literal(found, cast)
        if found is None:
            raise _refused(operand, "may change its value")
        return found


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in "%_\\" else c for c in text)


def _refused(node: tree.Node, words: str) -> PredicateError:
    return PredicateError(reason=f"{node.source} {words}")
