"""How the columns of a file differ from those that its table says, at every depth.

Those of a file are known by its schema where a footer is read, and by the rows of
`NODE_SCHEMA` where a page shows what was found in one.

Source: Delta protocol, "Type Widening", which widenings readers make; "Column Mapping",
by what columns are found.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa

from deltaweb.parquet.inspection.nodes import NodeTypes
from deltaweb.parquet.nesting import Part, parts_of
from deltaweb.parquet.schema import Node

LEGACY, MISSING, WIDENED, OTHER = "legacy", "missing", "widened", "other"
UNKNOWN, REFUSED, PARTITION = "unknown", "refused", "partition"
ELEMENT, KEY, VALUE = "element", "key", "value"
_WIDER: Final = {
    "tinyint": ("smallint", "int", "bigint", "double"),
    "smallint": ("int", "bigint", "double"),
    "int": ("bigint", "double"),
    "float": ("double",),
    "date": ("timestamp_ntz",),
}
_READ: Final = (
    *("path", "part_of", "depth", "field_id", "delta_type", "delta_reason"),
    *("physical_type", "effective_type", "column"),
)


@dataclass(frozen=True, slots=True)
class SurveyedColumn:
    """A column of the table, or a part of one, as files have it.

    Attributes:
        name: What the table calls it; `element`, `key`, `value` in arrays and maps.
        field_id: By what files know it; None where by its name.
        parts: The fields of a struct, the element of an array, key and value of a map.
    """

    name: str
    stored_name: str
    field_id: int | None
    type_word: str
    is_partition: bool
    parts: "tuple[SurveyedColumn, ...]" = ()


@dataclass(frozen=True, slots=True, eq=False)
class FileColumn:
    """A column of a file, or a part of one.

    Attributes:
        field_id: By what else readers may know it.
        word: Its type in Delta, in a word or two; "" where it has none.
        reason: Why it has none; "" where it has one.
        stored: Its physical type with its annotation, as it is stored.
        leaves: Returns the physical types of its leaves by their numbers.
        parts: Returns fields, the element, or key and value; none of what is one value.
    """

    name: str
    field_id: int | None
    word: str
    reason: str
    stored: str
    leaves: Callable[[], Mapping[int, str | None]]
    parts: Callable[[], Sequence["FileColumn"]]


class ColumnDifference(NamedTuple):
    """A column that is otherwise in a file.

    Attributes:
        path: Its names in the table, or in the file where the table has none.
    """

    path: tuple[str, ...]
    relation: str
    of_table: SurveyedColumn | None
    of_file: FileColumn | None


def column_differences(
    columns: Sequence[SurveyedColumn], of_file: Sequence[FileColumn]
) -> Iterator[ColumnDifference]:
    """Yield how the columns of a file differ from those of the table.

    A column whose values are in the log, and not in the file, is one: `PARTITION`.
    """
    return _fields(columns, of_file, ())


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


def table_path(columns: Sequence[SurveyedColumn], stored: str) -> str:
    """Return a dotted path of a file by the names that the table has.

    A level that the table does not have, such as the `list` of an array, stays.
    """
    names = []
    for name in stored.split("."):
        found = next((part for part in columns if part.stored_name == name), None)
        if found is not None:
            columns = found.parts
        names.append(name if found is None else found.name)
    return ".".join(names)


def _fields(
    columns: Sequence[SurveyedColumn],
    of_file: Sequence[FileColumn],
    above: tuple[str, ...],
) -> Iterator[ColumnDifference]:
    by_name = {found.name.lower(): found for found in of_file}
    by_id = {found.field_id: found for found in of_file if found.field_id is not None}
    known = set()
    for column in columns:
        path = *above, column.name
        found = by_name.get(column.stored_name.lower())
        if column.field_id is not None:
            found = by_id.get(column.field_id)
        if found is not None:
            known.add(id(found))
            yield from _column(column, found, path)
        else:
            relation = PARTITION if column.is_partition else MISSING
            yield ColumnDifference(path, relation, column, None)
    for found in of_file:
        if id(found) not in known:
            yield ColumnDifference((*above, found.name), UNKNOWN, None, found)


def _column(
    column: SurveyedColumn, found: FileColumn, path: tuple[str, ...]
) -> Iterator[ColumnDifference]:
    word = found.word
    inner = found.parts() if column.parts and word else ()
    if inner and column.type_word.startswith("struct"):
        if word.startswith("struct"):
            yield from _fields(column.parts, inner, path)
            return
    elif inner and _family(word) == _family(column.type_word):
        for part, found_part in zip(column.parts, inner, strict=False):
            yield from _column(part, found_part, (*path, part.name))
        return
    relation = relation_of(column.type_word, word)
    if not relation and "INT96" in found.leaves().values():
        relation = LEGACY
    if relation:
        yield ColumnDifference(path, relation, column, found)


def _family(word: str) -> str:
    return word.partition("<")[0]


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


def columns_of_schema(root: Node, types: NodeTypes) -> Sequence[FileColumn]:
    """Return the columns of a schema, those at the top."""

    def column(part: Part) -> FileColumn:
        node = part.node
        return FileColumn(
            name=node.name,
            field_id=node.element.field_id,
            word=types.word(node),
            reason=types.reasons.get(node.path, ""),
            stored=stored_type(node),
            leaves=lambda: {
                leaf.leaf: leaf.element.physical_type
                for leaf in node.leaves()
                if leaf.leaf is not None
            },
            parts=lambda: tuple(map(column, parts_of(part))),
        )

    return tuple(column(Part(node)) for node in root.children or ())


def columns_of_rows(nodes: pa.Table) -> Sequence[FileColumn]:
    """Return the columns of a schema, those at the top."""
    values = nodes.select(_READ).to_pydict()
    depths, physical = values["depth"], values["physical_type"]
    parts: dict[int, list[int]] = defaultdict(list)
    for row, owner in enumerate(values["part_of"]):
        if owner is not None:
            parts[owner].append(row)

    def leaves(row: int) -> Mapping[int, str | None]:
        end = row + 1
        while end < len(depths) and depths[end] > depths[row]:
            end += 1
        found = zip(values["column"][row:end], physical[row:end], strict=True)
        return {leaf: kind for leaf, kind in found if leaf is not None}

    def column(row: int) -> FileColumn:
        return FileColumn(
            name=values["path"][row][-1],
            field_id=values["field_id"][row],
            word=values["delta_type"][row] or "",
            reason=values["delta_reason"][row] or "",
            stored=_stored(physical[row], values["effective_type"][row]),
            leaves=lambda: leaves(row),
            parts=lambda: tuple(map(column, parts.get(row, ()))),
        )

    return tuple(map(column, parts.get(-1, ())))


def stored_type(node: Node) -> str:
    """Return the physical type of a node with its annotation, as it is stored."""
    physical = node.element.physical_type if node.children is None else None
    return _stored(physical, None if node.annotation is None else node.annotation.text)


def _stored(physical: str | None, annotation: str | None) -> str:
    return f"{physical or 'group'} {annotation or ''}".strip()
