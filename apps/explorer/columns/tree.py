"""The tree of a schema: one row a column, nested ones below their parent."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from apps.explorer.columns.column_facts import column_facts, json_text
from apps.pages.page_json import As, OnPage
from apps.tables.models import MetadataVersion
from apps.tables.models.wide_schemas import too_wide
from apps.tables.versions.column_address import column_address
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    parse_schema,
    short_type_text,
    type_text,
)
from deltaweb.delta.protocol.schema.field_keys import COMMENT, FIELD_ID, PHYSICAL_NAME
from deltaweb.words import cut

MAX_TYPE_LENGTH = 300  # of a type in a list; the page of a column has all of it
MAX_LISTED_LENGTH = 1000  # of a comment or a fact in a list
MAX_LISTED_FACTS = 20
KEPT_TREES = 8
MAX_DEPTH_CLASS = 8  # the style sheet indents this deep
MAPPING_FACTS = frozenset({PHYSICAL_NAME, FIELD_ID})


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaColumn:
    """A row of the tree.

    Attributes:
        path: The dotted path; fields of an array's elements follow the array.
        names: The parts of the path, which may have dots themselves.
        depth: 0 for a column of the table.
        kind: The type in a word or two: `struct`, `array<struct>`, `bigint`.
        nullable: Whether a value may be null.
        facts: What else its metadata says, in words: (label, value).
        position: Its place among the rows of its parent, from 1.
        num_siblings: How many those are, itself among them.
    """

    path: str
    names: tuple[str, ...]
    name: str
    depth: int
    kind: str
    data_type: DataType
    nullable: bool
    comment: str
    facts: tuple[tuple[str, str], ...]
    is_partition: bool
    num_children: int
    position: int = 1
    num_siblings: int = 1

    @property
    def stored_as(self) -> tuple[str, str]:
        """What files and the log call it where columns are mapped, and its id.

        Empty texts where the metadata does not say.
        """
        found = dict(self.facts)
        return found.get(PHYSICAL_NAME, ""), found.get(FIELD_ID, "")

    @property
    def logical_facts(self) -> tuple[tuple[str, str], ...]:
        """The facts without those of its mapping."""
        return tuple(fact for fact in self.facts if fact[0] not in MAPPING_FACTS)

    @property
    def type_text(self) -> str:
        """The type as a list shows it: a long one is cut."""
        return short_type_text(self.data_type, MAX_TYPE_LENGTH)

    @property
    def level(self) -> int:
        """How deep it is, from 1."""
        return self.depth + 1

    @property
    def depth_class(self) -> str:
        return f"d{min(self.depth, MAX_DEPTH_CLASS)}"

    @property
    def address(self) -> str:
        """What the column is called in the address of its page."""
        return column_address(self.names)

    @property
    def parent(self) -> str:
        """The path of the row above, or nothing."""
        return self.path.removesuffix(f".{self.name}") if self.depth else ""

    def describe(self) -> dict[str, object]:
        """Return the column as the JSON form of its own page shows it: all of it."""
        return self._described(type_text(self.data_type), self.comment, self.facts)

    def describe_briefly(self) -> dict[str, object]:
        """Return the column as the JSON form of a list shows it: long texts are cut."""
        facts = [
            (name, cut(text, MAX_LISTED_LENGTH))
            for name, text in self.facts[:MAX_LISTED_FACTS]
        ]
        return self._described(
            self.type_text, cut(self.comment, MAX_LISTED_LENGTH), facts
        )

    def _described(
        self, type_name: str, comment: str, facts: Iterable[tuple[str, str]]
    ) -> dict[str, object]:
        return {
            "path": self.path,
            "name": self.name,
            "depth": self.depth,
            "type": type_name,
            "nullable": self.nullable,
            "comment": comment,
            "partition": self.is_partition,
            **dict(facts),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaTree:
    """The columns of a schema, or why they cannot be told.

    Attributes:
        columns: All columns, in the order of the schema.
        num_columns: The number of columns of the table; 0 if unknown.
        num_fields: The number of fields, including nested ones.
        problem: The reason why there are no columns.
        is_too_wide: Whether there are too many to show.
    """

    columns: OnPage[tuple[SchemaColumn, ...]] = ()
    num_columns: int = 0
    num_fields: int = 0
    problem: Annotated[str, As(lambda problem: problem or None)] = ""
    is_too_wide: OnPage[bool] = False

    @property
    def is_mapped(self) -> bool:
        """Whether a column says what it is stored as."""
        return any(any(column.stored_as) for column in self.columns)

    def head(self, length: int) -> tuple[SchemaColumn, ...]:
        """Return the first rows."""
        return self.columns[:length]

    def matching(self, text: str) -> tuple[SchemaColumn, ...]:
        """Return the rows whose path, type or comment holds `text`, with the way there.

        The rows above a match are kept, so that the tree stays one.
        """
        if not text:
            return self.columns
        needle = text.lower()
        wanted = [
            column.path
            for column in self.columns
            if needle in f"{column.path}\n{column.type_text}\n{column.comment}".lower()
        ]
        shown = set(wanted)
        parents = {column.path: column.parent for column in self.columns}
        for path in wanted:
            above = parents.get(path, "")
            while above and above not in shown:
                shown.add(above)
                above = parents.get(above, "")
        return tuple(column for column in self.columns if column.path in shown)


def version_tree(metadata: MetadataVersion | None) -> SchemaTree:
    """Return the tree of a version; an empty one where nothing is known of it."""
    if metadata is None:
        return SchemaTree()
    if metadata.wide_schema_digest:
        return _wide_tree(metadata)
    return schema_tree(metadata.schema_string, metadata.partition_columns)


def schema_tree(schema_string: str, partition_columns: Collection[str]) -> SchemaTree:
    """Return the tree of a schema as the log writes it.

    A schema that cannot be read is told, never raised: the page has more to show.
    """
    return _schema_tree(schema_string, tuple(partition_columns))


def _wide_tree(metadata: MetadataVersion) -> SchemaTree:
    """Return what is known of a schema that is too wide: how wide it is."""
    wide = metadata.wide_schema
    problem = too_wide(wide)
    return SchemaTree(
        num_columns=wide.num_columns if wide else 0,
        num_fields=wide.num_fields if wide else 0,
        problem=f"{problem.message} {problem.hint}",
        is_too_wide=True,
    )


@lru_cache(maxsize=KEPT_TREES)
def _schema_tree(schema_string: str, partition_columns: tuple[str, ...]) -> SchemaTree:
    try:
        schema = parse_schema(schema_string)
    except SchemaError as error:
        return SchemaTree(problem=error.message)
    columns = tuple(_rows(schema, (), 0, frozenset(partition_columns)))
    return SchemaTree(
        columns=columns, num_columns=len(schema.fields), num_fields=len(columns)
    )


def _rows(
    struct: StructType, prefix: tuple[str, ...], depth: int, partitions: frozenset[str]
) -> Iterator[SchemaColumn]:
    for position, field in enumerate(struct.fields, start=1):
        path = (*prefix, field.name)
        children = list(_children(field.data_type, path, depth + 1))
        yield _row(
            field,
            path,
            depth=depth,
            is_partition=not depth and field.name in partitions,
            num_children=sum(1 for child in children if child.depth == depth + 1),
            place=(position, len(struct.fields)),
        )
        yield from children


def _children(
    data_type: DataType, path: tuple[str, ...], depth: int
) -> Iterator[SchemaColumn]:
    match data_type:
        case StructType():
            yield from _rows(data_type, path, depth, frozenset())
        case ArrayType(element_type):
            yield from _children(element_type, path, depth)
        case MapType(key_type, value_type):
            entries = (("key", key_type), ("value", value_type))
            for name, entry in entries:
                if list(_children(entry, (), 0)):
                    field = StructField(name=name, data_type=entry)
                    yield from _rows(StructType((field,)), path, depth, frozenset())


def _row(  # noqa: PLR0913 (each is one part of the row)
    field: StructField,
    path: tuple[str, ...],
    *,
    depth: int,
    is_partition: bool,
    num_children: int,
    place: tuple[int, int],
) -> SchemaColumn:
    return SchemaColumn(
        path=".".join(path),
        names=path,
        name=field.name,
        depth=depth,
        kind=kind_text(field.data_type),
        data_type=field.data_type,
        nullable=field.nullable,
        comment=json_text(field.metadata.get(COMMENT)),
        facts=tuple(column_facts(field.name, field.metadata)),
        is_partition=is_partition,
        num_children=num_children,
        position=place[0],
        num_siblings=place[1],
    )


def kind_text(data_type: DataType) -> str:
    """Return a type in a word or two, the fields of structs left out."""
    match data_type:
        case StructType():
            return "struct"
        case ArrayType(element_type):
            return f"array<{kind_text(element_type)}>"
        case MapType(key_type, value_type):
            return f"map<{kind_text(key_type)}, {kind_text(value_type)}>"
    return type_text(data_type)
