"""What both interpretations of a condition have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from deltaweb.conditions import tree
from deltaweb.conditions.bounds import (
    Bounds,
    all_of,
    any_of,
    denied,
    exactly,
    never_unknown,
)
from deltaweb.conditions.columns import TypedColumn, is_boolean
from deltaweb.delta.errors import PredicateError
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.scan.predicate import IsNull


@dataclass(frozen=True)
class Interpretation(ABC):
    """Gives a tree a meaning over one schema.

    Attributes:
        schema: The table's schema.
        compare: Gives the meaning of a column beside a literal.
    """

    schema: StructType
    compare: Callable[[TypedColumn, str, tree.Literal], Bounds]

    def condition(self, node: tree.Node) -> Bounds:
        """What a condition of any kind means.

        Raises:
            PredicateError: It has no meaning over the schema.
        """
        match node:
            case tree.And(parts):
                return all_of([self.condition(part) for part in parts])
            case tree.Or(parts):
                return any_of([self.condition(part) for part in parts])
            case tree.Not(part):
                return denied(self.condition(part))
            case _:
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
            case tree.Column() if self.is_column(node):
                return self.boolean(node)
            case _:
                raise refused(node, "is not a condition")

    def compared(self, node: tree.Compare) -> Bounds:
        """`a < 5`."""
        if not self.is_column(node.left) or self.is_column(node.right):
            raise refused(node, "does not compare a column with a value")
        column, literal = self.comparable(node.left), self.value(node.right)
        return self.compare(column, node.operator, literal)

    def same(self, node: tree.Compare) -> Bounds:
        """`a <=> 5`, `a IS NULL` and `a IS TRUE`, which are never unknown."""
        left, right = node.left, node.right
        if node.operator == "IS" and not self.is_test(left, right):
            raise refused(node, "does not test a column")
        if not self.is_column(left) or self.is_column(right):
            raise refused(node, "does not compare a column with a value")
        literal = self.value(right)
        if literal.kind == "null":
            return exactly(IsNull(self.column(left).path))
        column = self.comparable(left)
        return never_unknown(self.compare(column, "=", literal), column.path)

    def is_test(self, left: tree.Operand, right: tree.Operand) -> bool:
        """Whether IS has a column on its left, and NULL or TRUE on its right."""
        match right:
            case tree.Literal("null" | "boolean", casts=()):
                return self.is_column(left)
        return False

    def listed(self, node: tree.OneOf) -> Bounds:
        """`a IN (1, 2)`."""
        if not node.values:
            raise refused(node, "has no list of values")
        column = self.comparable(node.operand)
        values = map(self.value, node.values)
        return any_of([self.compare(column, "=", value) for value in values])

    def boolean(self, node: tree.Column) -> Bounds:
        """A column that is a condition by itself."""
        column = self.column(node)
        if not is_boolean(column):
            words = "is not a condition, since it is no boolean"
            raise PredicateError(reason=f"column {column.shown} {words}")
        return self.compare(self.comparable(node), "=", tree.Literal("boolean", "true"))

    def is_column(self, operand: tree.Operand) -> bool:
        """Whether an operand is taken for a column."""
        return isinstance(operand, tree.Column)

    @abstractmethod
    def like(self, node: tree.Like) -> Bounds:
        """`a LIKE 'x%'`."""

    @abstractmethod
    def column(self, operand: tree.Operand) -> TypedColumn:
        """The column that an operand names."""

    @abstractmethod
    def comparable(self, operand: tree.Operand) -> TypedColumn:
        """A column whose values can be compared."""

    @abstractmethod
    def value(self, operand: tree.Operand) -> tree.Literal:
        """The literal that an operand writes, its casts applied."""


def refused(node: tree.Node, words: str) -> PredicateError:
    """The error that says what is not understood."""
    return PredicateError(reason=f"{node.source} {words}")
