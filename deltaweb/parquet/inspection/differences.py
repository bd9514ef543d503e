"""How the columns of a file differ from those that its table says, at every depth.

Source: Delta protocol, "Type Widening", which widenings readers make; "Column Mapping",
by what columns are found.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from deltaweb.parquet.inspection.node_types import NodeTypes
from deltaweb.parquet.nesting import NestingError, list_shape, map_shape
from deltaweb.parquet.schema import Node

LEGACY, MISSING, WIDENED, OTHER = "legacy", "missing", "widened", "other"
UNKNOWN, REFUSED = "unknown", "refused"
ELEMENT, KEY, VALUE = "element", "key", "value"
_WIDER: Final = {
    "tinyint": ("smallint", "int", "bigint", "double"),
    "smallint": ("int", "bigint", "double"),
    "int": ("bigint", "double"),
    "float": ("double",),
    "date": ("timestamp_ntz",),
}


@dataclass(frozen=True, slots=True)
class SurveyedColumn:
    """A column of the table, or a part of one, as files have it.

    Attributes:
        name: What the table calls it; `element`, `key`, `value` in arrays and maps.
        stored_name: What files call it.
        field_id: By what files know it; None where by its name.
        type_word: Its type, as `type_word` has it.
        is_partition: Whether its values are in the log.
        parts: The fields of a struct, the element of an array, key and value of a map.
    """

    name: str
    stored_name: str
    field_id: int | None
    type_word: str
    is_partition: bool
    parts: "tuple[SurveyedColumn, ...]" = ()


class ColumnDifference(NamedTuple):
    """A column that is otherwise in a file.

    Attributes:
        path: Its names in the table, or in the file where the table has none.
        relation: How: a word of this module.
        node: The column in the file; None where it has none.
    """

    path: tuple[str, ...]
    relation: str
    node: Node | None


def column_differences(
    columns: Sequence[SurveyedColumn], root: Node, types: NodeTypes
) -> Iterator[ColumnDifference]:
    """Yield how the columns of a file differ from those of the table.

    Args:
        columns: Of the table at its top.
        root: The schema of the file.
        types: What its nodes are in Delta.
    """
    return _fields(columns, root.children or (), types, ())


def words_by_path(columns: Sequence[SurveyedColumn]) -> Mapping[str, str]:
    """Return the type of every column and part of one by its dotted path."""
    words: dict[str, str] = {}

    def add(part: SurveyedColumn, above: str) -> None:
        path = f"{above}{part.name}"
        words[path] = part.type_word
        for inner in part.parts:
            add(inner, f"{path}.")

    for column in columns:
        add(column, "")
    return words


def _fields(
    columns: Sequence[SurveyedColumn],
    nodes: Sequence[Node],
    types: NodeTypes,
    above: tuple[str, ...],
) -> Iterator[ColumnDifference]:
    by_name = {node.name.lower(): node for node in nodes}
    by_id = {
        node.element.field_id: node
        for node in nodes
        if node.element.field_id is not None
    }
    known = set()
    for column in columns:
        node = by_name.get(column.stored_name.lower())
        if column.field_id is not None:
            node = by_id.get(column.field_id)
        if node is not None:
            known.add(id(node))
            yield from _column(column, node, types, (*above, column.name))
        elif not column.is_partition:
            yield ColumnDifference((*above, column.name), MISSING, None)
    for node in nodes:
        if id(node) not in known:
            yield ColumnDifference((*above, node.name), UNKNOWN, node)


def _column(
    column: SurveyedColumn, node: Node, types: NodeTypes, path: tuple[str, ...]
) -> Iterator[ColumnDifference]:
    word = types.word(node)
    inner = _parts(node) if column.parts and word else None
    if inner is not None and column.type_word.startswith("struct"):
        if word.startswith("struct"):
            yield from _fields(column.parts, inner, types, path)
            return
    elif inner is not None and _family(word) == _family(column.type_word):
        for part, found in zip(column.parts, inner, strict=False):
            yield from _column(part, found, types, (*path, part.name))
        return
    relation = relation_of(column.type_word, word)
    if not relation and any(
        leaf.element.physical_type == "INT96" for leaf in node.leaves()
    ):
        relation = LEGACY
    if relation:
        yield ColumnDifference(path, relation, node)


def _parts(node: Node) -> Sequence[Node] | None:
    """Return the fields, the element, or key and value of a node; None of others.

    A repeated node that is no list's has no node for its element alone.
    """
    try:
        match node.kind:
            case "LIST":
                return (list_shape(node).element,)
            case "MAP":
                shape = map_shape(node)
                return (shape.key,) if shape.value is None else (shape.key, shape.value)
    except NestingError:
        return None
    return None if node.is_repeated or node.kind is not None else node.children


def _family(word: str) -> str:
    return word.partition("<")[0]


def stored_type(node: Node) -> str:
    """Return the physical type of a node with its annotation, as it is stored."""
    physical = node.element.physical_type if node.children is None else "group"
    annotation = "" if node.annotation is None else node.annotation.text
    return f"{physical} {annotation}".strip()


def relation_of(table_word: str, file_word: str) -> str:
    """Return how the type of a file is to that of the table; "" where it is the same.

    Source: Delta protocol, "Type Widening", which widenings readers make.
    """
    if not file_word:
        return REFUSED
    if file_word == table_word:
        return ""
    if table_word in _WIDER.get(file_word, ()):
        return WIDENED
    digits, wanted = _decimal(file_word), _decimal(table_word)
    if digits and wanted:
        scale = wanted[1] - digits[1]
        return WIDENED if scale >= 0 and wanted[0] - digits[0] >= scale else OTHER
    return OTHER


def _decimal(word: str) -> tuple[int, int] | None:
    inner = word.removeprefix("decimal(").removesuffix(")")
    precision, comma, scale = inner.partition(",")
    if inner == word or not comma:
        return None
    return int(precision), int(scale)
