"""The SQL text of a condition, exactly as it is written or not at all.

Understood are comparisons of a column with a literal or another column, `<=>`, IN,
BETWEEN, LIKE, ILIKE, IS NULL, IS TRUE, AND, OR, NOT and parentheses. Names of columns
may be quoted with backticks, and dots lead into structs. Texts are in single quotes.
A time without a zone is UTC. What is not understood is an error, never ignored.
"""

from deltaweb.conditions import tree
from deltaweb.conditions.bounds import Bounds, exactly
from deltaweb.conditions.casts import literal_kind, type_name
from deltaweb.conditions.columns import (
    TypedColumn,
    check_has_values,
    find_column,
)
from deltaweb.conditions.exact import (
    compare,
    compare_literals,
    like_pattern,
)
from deltaweb.conditions.interpretation import Interpretation, refused
from deltaweb.conditions.sql import SQLReader
from deltaweb.conditions.sql_text import TOO_DEEP, parse_sql
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import ColumnComparison, Constant, Like, Predicate

MAX_LISTED = 20
"""Columns of the table that an error lists."""

_ADVICE = (
    "; functions, arithmetic and casts of columns are not understood, and a column's "
    "name is quoted with backticks"
)


def parse_predicate(sql: str, schema: StructType) -> Predicate:
    """Parse the SQL text of a condition over the columns of `schema`.

    Args:
        sql: What would stand after WHERE.
        schema: The table's schema; its types decide what a literal is.

    Returns:
        The condition as a tree.

    Raises:
        PredicateError: The text is not understood, is too long or nested too deeply,
            names no column of the schema, or compares what cannot be compared.
    """
    try:
        condition = SQLReader().condition(parse_sql(sql).tree)
        return _Exact(schema, _compare).condition(condition).if_true
    except RecursionError:
        raise PredicateError(reason=TOO_DEEP) from None


def _compare(column: TypedColumn, operator: str, literal: tree.Literal) -> Bounds:
    return exactly(compare(column, operator, literal))


class _Exact(Interpretation):
    """Refuses what means more or less than a predicate."""

    def leaf(self, node: tree.Node) -> Bounds:
        """What a condition means; TRUE, FALSE and NULL are some."""
        match node:
            case tree.Literal("boolean" | "null" as kind, text, casts=()):
                return exactly(Constant(None if kind == "null" else text == "true"))
        return super().leaf(node)

    def compared(self, node: tree.Compare) -> Bounds:
        """`a < 5`, `a < b` and `1 = 1`."""
        match node.left, node.right:
            case tree.Column(casts=()), tree.Column(casts=()):
                left, right = self.comparable(node.left), self.comparable(node.right)
                if left.data_type != right.data_type:
                    reason = f"the columns of {node.source} are of different types"
                    raise PredicateError(reason=reason)
                return exactly(ColumnComparison(left.path, node.operator, right.path))
            case tree.Column(casts=()), _:
                return super().compared(node)
            case (
                tree.Literal("number" | "string", casts=()) as one,
                tree.Literal("number" | "string", casts=()) as other,
            ):
                return exactly(compare_literals(one, node.operator, other))
        raise refused(node, f"does not compare a column with a value{_ADVICE}")

    def like(self, node: tree.Like) -> Bounds:
        """`a LIKE 'x%'`, with ILIKE and ESCAPE."""
        column = self.comparable(node.operand)
        pattern = self.value(node.pattern)
        if type_name(column.data_type) != "string":
            reason = f"LIKE needs a column of text, and {column.shown} is none"
            raise PredicateError(reason=reason)
        if pattern.kind == "null":
            return exactly(Constant(None))
        if pattern.kind != "string":
            raise PredicateError(reason=f"{pattern.text} is no pattern of text")
        escape = "\\" if node.escape is None else self.value(node.escape).text
        text = like_pattern(pattern.text, escape)
        return exactly(Like(column.path, text, ignore_case=node.ignore_case))

    def is_column(self, operand: tree.Operand) -> bool:
        """Whether an operand is a column as it is."""
        return isinstance(operand, tree.Column) and not operand.casts

    def column(self, operand: tree.Operand) -> TypedColumn:
        """The column that an operand names."""
        if not isinstance(operand, tree.Column) or operand.casts:
            raise refused(operand, "is not a column")
        try:
            return find_column(self.schema, operand.names)
        except PredicateError as error:
            names = self.schema.names
            more = " and others" if len(names) > MAX_LISTED else ""
            listed = f"its columns are {', '.join(names[:MAX_LISTED])}{more}"
            raise PredicateError(reason=f"{error.reason}; {listed}") from None

    def comparable(self, operand: tree.Operand) -> TypedColumn:
        """A column of a type with an order."""
        column = self.column(operand)
        check_has_values(column, advice="; only IS NULL can be asked of it")
        return column

    def value(self, operand: tree.Operand) -> tree.Literal:
        """The value of a literal, by the kind of the outermost cast."""
        if isinstance(operand, tree.Column) and operand.casts:
            raise refused(operand, "casts a column; cast the value instead")
        if not isinstance(operand, tree.Literal):
            raise refused(operand, "is not a value")
        if not operand.casts:
            return operand
        kind = operand.kind
        for kind_cast in map(literal_kind, operand.casts):
            if not kind_cast:
                raise refused(operand, "is not a value")
            if kind in {"null", kind_cast}:
                continue
            if kind != "string" and kind_cast != "string":
                raise refused(operand, "is not a value")
            if kind_cast != "binary":
                kind = kind_cast
        return tree.Literal(kind, operand.text)
