"""A page of the schema's tree: some rows, and what files tell of each."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from functools import lru_cache
from typing import Final

from apps.explorer.columns.ranges import ColumnRanges, known_ranges
from apps.explorer.columns.tree import SchemaColumn, SchemaTree
from apps.explorer.grid import cell
from apps.explorer.version.listed import Kept
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.pages.figures import percent
from apps.pages.lists.paging import Paged, paged
from apps.tables.index.folders import index_folder
from apps.tables.models import MetadataVersion
from apps.tables.work.profile import (
    PROFILE_ALL,
    KnownProfile,
    ProfileAll,
    known_profiles,
)
from deltaweb.delta.errors import SchemaError
from deltaweb.delta.profile.described import ColumnProfile
from deltaweb.delta.protocol import schema_text
from deltaweb.delta.protocol.schema import StructType, format_schema, parse_schema
from deltaweb.index.folder.file_index import open_files
from deltaweb.index.folder.parts import IndexMissingError
from deltaweb.words import cut

# === What the files of the newest version tell of columns, in brief ===


MAX_BOUND_LENGTH: Final = 24  # characters of a bound in a list
MAX_CELLS: Final = 20_000_000  # columns times files that a page adds up
MAX_KEPT: Final = 64

Bounds = Mapping[str, "ColumnBounds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBounds:
    """Nulls and bounds of a column, as a list shows them.

    Attributes:
        minimum, maximum: As a line shows them; "" where no file has them. Of a wide
            file they are what the values lie within.
    """

    ranges: ColumnRanges
    minimum: str
    maximum: str

    @property
    def is_within(self) -> bool:
        """Whether an end may be of deleted rows: the values lie within both."""
        ends = (self.ranges.minimum, self.ranges.maximum)
        return bool(self.ranges.num_bounds) and None in ends

    @property
    def coverage_percent(self) -> int:
        """Files with a minimum and a maximum, of a hundred."""
        files = self.ranges.num_files
        return 100 * self.ranges.num_bounds // files if files else 0


_kept: Kept[Bounds] = Kept(MAX_KEPT)


def column_bounds(at: TableVersion, columns: Sequence[SchemaColumn]) -> Bounds:
    """Return what files tell of columns, by path.

    Args:
        at: The version; nothing is told of one that is not the newest.
    """
    folder = index_folder(at.table)
    if folder is None or not at.is_latest:
        return {}
    key = (str(folder), tuple(column.names for column in columns))
    try:
        return _kept.get(key, lambda: _read(str(folder), columns))
    except IndexMissingError:
        return {}


def _read(folder: str, columns: Sequence[SchemaColumn]) -> Bounds:
    files = open_files(folder)
    room = MAX_CELLS // max(files.num_rows, 1)
    found = (
        (column, known_ranges(files, column.names, is_partition=column.is_partition))
        for column in columns[:room]
        if not column.num_children
    )
    return {
        column.path: ColumnBounds(
            ranges=ranges,
            minimum=_shown(ranges.lowest),
            maximum=_shown(ranges.highest),
        )
        for column, ranges in found
        if ranges is not None and (ranges.num_bounds or ranges.num_counts)
    }


def _shown(value: object) -> str:
    if value is None:
        return ""
    return cut(cell(value, UTC).text, MAX_BOUND_LENGTH) if value != "" else '""'


# === The page ===


PAGE_LENGTH: Final = 150
JSON_LENGTH: Final = 500  # columns of a page of the JSON form


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRow:
    """A column in the tree, with what is known of its values."""

    column: SchemaColumn
    bounds: ColumnBounds | None
    profile: ColumnProfile | None

    @property
    def null_percent(self) -> float | None:
        """Nulls of a hundred rows, by the profile or else by the files."""
        if self.profile is not None:
            return percent(self.profile.num_nulls, self.profile.num_rows, digits=2)
        return self.bounds.ranges.null_percent if self.bounds else None

    @property
    def most_frequent(self) -> tuple[str, float] | None:
        """The most frequent value, and its share of the rows in percent."""
        if self.profile is None or not self.profile.top:
            return None
        text, count = self.profile.top[0]
        return text, percent(count, self.profile.num_rows, digits=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaPage:
    """Some rows of the tree, and how many there are.

    Attributes:
        columns: The rows; those above the first one lead to it.
        num_above: How many of them stand there only as the way to the first.
        paged: Where the page stands among the rows that the filter leaves.
        has_about: Whether a column of the page has a comment or a fact beside its
            mapping.
        bounds: What files tell, by the path of a column; nothing of one that they
            do not tell of.
        profiles: The profiles that jobs have made, by the names of a column.
    """

    columns: tuple[SchemaColumn, ...]
    num_above: int
    paged: Paged
    has_about: bool
    bounds: Mapping[str, ColumnBounds] = field(default_factory=dict)
    profiles: Mapping[tuple[str, ...], KnownProfile] = field(default_factory=dict)

    @property
    def rows(self) -> list[SchemaRow]:
        return [
            SchemaRow(
                column=column,
                bounds=self.bounds.get(column.path),
                profile=known.profile
                if (known := self.profiles.get(column.names))
                else None,
            )
            for column in self.columns
        ]


def schema_page(
    at: TableVersion,
    tree: SchemaTree,
    text: str,
    *,
    page: int,
    length: int = PAGE_LENGTH,
) -> SchemaPage:
    """Return one page of the rows that a filter leaves.

    Args:
        text: What the path, type or comment holds; "" for every row.
        page: The number of the page, from 1; the last one where there are fewer.
    """
    matching = tree.matching(text)
    place = paged(len(matching), page, length=length)
    shown = matching[place.rows]
    above = _above(matching, place.start)
    columns = (*above, *shown)
    return SchemaPage(
        columns=columns,
        num_above=len(above),
        paged=place,
        has_about=any(column.comment or column.logical_facts for column in columns),
        bounds=column_bounds(at, columns),
        profiles=known_profiles(at.table, at.version),
    )


def profile_job(at: TableVersion) -> Job | None:
    """Return the newest job that profiles all columns of this version."""
    if at.version is None:
        return None
    return PROFILE_ALL.newest(at.table, ProfileAll(version=at.version))


def _above(columns: tuple[SchemaColumn, ...], start: int) -> tuple[SchemaColumn, ...]:
    """Return the rows that lead to the row at `start`, the topmost first."""
    if start >= len(columns) or not columns[start].depth:
        return ()
    found: list[SchemaColumn] = []
    depth = columns[start].depth
    for column in reversed(columns[:start]):
        if column.depth < depth:
            found.append(column)
            depth = column.depth
        if not depth:
            break
    return tuple(reversed(found))


# === A schema as code, ready to be copied ===

MAX_CODE_LENGTH: Final = 12_000  # that a page shows; the download has all of it
KEPT_SCHEMAS: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The schema in one language, as much of it as a page shows."""

    name: str  # of the language, as a tab says it
    slug: str
    code: str
    is_cut: bool


Speller = Callable[[StructType, str, tuple[str, ...]], str]

LANGUAGES: Final[Mapping[str, tuple[str, Speller]]] = {
    "ddl": ("DDL", schema_text.ddl),
    "spark": ("Spark", lambda schema, *_: schema_text.spark(schema)),
    "pyarrow": ("pyarrow", lambda schema, *_: schema_text.pyarrow(schema)),
    "json": ("JSON", lambda schema, *_: _pretty(schema)),
}


def spellings(metadata: MetadataVersion, table_name: str) -> tuple[Spelling, ...]:
    """Return the schema in each language; none where it cannot be read or shown."""
    if metadata.wide_schema_digest:
        return ()
    return _spellings(
        metadata.schema_string, tuple(metadata.partition_columns), table_name
    )


def spelled(metadata: MetadataVersion, table_name: str, language: str) -> str:
    """Return the whole schema in one of `LANGUAGES`."""
    _, spell = LANGUAGES[language]
    return spell(metadata.schema(), table_name, tuple(metadata.partition_columns))


@lru_cache(maxsize=KEPT_SCHEMAS)
def _spellings(
    schema_string: str, partition_columns: tuple[str, ...], table_name: str
) -> tuple[Spelling, ...]:
    try:
        schema = parse_schema(schema_string)
    except SchemaError:
        return ()
    codes = (
        (slug, name, spell(schema, table_name, partition_columns))
        for slug, (name, spell) in LANGUAGES.items()
    )
    return tuple(
        Spelling(
            name=name,
            slug=slug,
            code=code[:MAX_CODE_LENGTH],
            is_cut=len(code) > MAX_CODE_LENGTH,
        )
        for slug, name, code in codes
    )


def _pretty(schema: StructType) -> str:
    return json.dumps(json.loads(format_schema(schema)), indent=2, ensure_ascii=False)
