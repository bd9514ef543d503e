"""A variant of a record as a tree whose leaves lead to columns of their values."""

from dataclasses import dataclass
from typing import Final

from deltaweb.delta.scan.variant_parts import part_name
from deltaweb.delta.values.variant_get import Steps, format_path
from deltaweb.delta.values.variant_tree import VariantNode

COLUMN_TYPES: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "bigint"),
    **dict.fromkeys(("float", "double", "decimal"), "double"),
    **dict.fromkeys(("string", "uuid", "time"), "string"),
    **{name: name for name in ("boolean", "date", "timestamp", "timestamp_ntz")},
    "binary": "binary",
    "null": "variant",
}
"""What values of a type are read as in other rows, where they may be larger."""


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A value in a variant.

    Attributes:
        name, type_name, text: As of a `VariantNode`.
        nodes: The parts of an object or an array.
        column: The name of the column that has this value of every row; "" for a
            value with parts, and for one that no path leads to.
    """

    name: str
    type_name: str
    text: str
    nodes: "tuple[TreeNode, ...]"
    column: str


def tree_of(column: str, node: VariantNode, steps: Steps = ()) -> TreeNode:
    """Return a variant as a tree.

    Args:
        column: The column of variants.
        node: The value.
        steps: What leads to it.
    """
    is_array = node.type_name == "array"
    parts = tuple(
        tree_of(column, part, (*steps, int(part.name) if is_array else part.name))
        for part in node.nodes
    )
    kind, path = COLUMN_TYPES.get(node.type_name), format_path(steps)
    return TreeNode(
        name=node.name,
        type_name=node.type_name,
        text=node.text,
        nodes=parts,
        column=part_name(column, path, kind) if kind and path else "",
    )
