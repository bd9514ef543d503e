"""What each node of a schema is in Delta, or why it is nothing there.

Source: Delta protocol, "Primitive Types"; Parquet logical types.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from deltaweb.parquet.conversion.delta import (
    ColumnProblem,
    DeltaType,
    SchemaConverter,
)
from deltaweb.parquet.schema import Node

_WORDS: Final = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
}


@dataclass(frozen=True, slots=True)
class NodeTypes:
    """The types of the nodes of a schema.

    Attributes:
        words: By the identity of a node, its type in a word or two.
        reasons: By the path of a node, why it has none.
        features: Names of table features that the types need.
    """

    words: Mapping[int, str]
    reasons: Mapping[tuple[str, ...], str]
    features: tuple[str, ...]

    def word(self, node: Node) -> str:
        """Return the type of a node; "" where it has none of its own."""
        return self.words.get(id(node), "")


def node_types(root: Node) -> NodeTypes:
    """Convert every column of a schema, whatever is wrong with the others."""
    converter = _RecordingConverter()
    converter.fields(root.children or ())
    if not root.children:
        converter.problems.append(ColumnProblem((), "no columns"))
    reasons: dict[tuple[str, ...], str] = {}
    for problem in converter.problems:
        reasons.setdefault(problem.path, problem.reason)
    return NodeTypes(converter.words, reasons, tuple(converter.features))


@dataclass
class _RecordingConverter(SchemaConverter):
    words: dict[int, str] = field(default_factory=dict)

    def type_of(self, node: Node, *, is_in_list: bool = False) -> DeltaType:
        made = super().type_of(node, is_in_list=is_in_list)
        self.words[id(node)] = type_word(made)
        return made

    def field_type(self, node: Node) -> DeltaType:
        made = super().field_type(node)
        self.words[id(node)] = type_word(made)
        return made


def type_word(data_type: DeltaType) -> str:
    """Return a type in a word or two: `bigint`, `array<struct>`; "" for none."""
    if isinstance(data_type, str):
        return _WORDS.get(data_type, data_type)
    if not isinstance(data_type, dict):
        return ""
    match data_type["type"]:
        case "array":
            return f"array<{type_word(data_type['elementType'])}>"
        case "map":
            key, value = data_type["keyType"], data_type["valueType"]
            return f"map<{type_word(key)}, {type_word(value)}>"
        case kind:
            return str(kind)
