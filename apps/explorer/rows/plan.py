"""Which rows and columns an address asks for, checked against the schema.

A wide table starts with its first columns and those that tell rows apart; what is
chosen beyond a page of columns comes in pages too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from itertools import chain, islice
from typing import Final

from apps.explorer.rows.filter_errors import UnknownColumnError
from apps.explorer.rows.filters import (
    RowFilter,
    SQLFilter,
    find_part,
    is_plain,
    is_sql,
    row_filter,
    sql_filter,
)
from apps.explorer.rows.form import BLOCK_LENGTH, PAGE_LENGTH, RowQuery
from apps.pages.request.parameters import QueryError
from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructField,
    StructType,
    unread_type,
)
from deltaweb.delta.scan.variant_parts import VariantPart
from deltaweb.delta.values.time_zones.known import UTC_ZONE
from deltaweb.delta.values.variant_get import VARIANT
from deltaweb.errors import shortened_name

FIRST_COLUMNS: Final = 30  # of a wide table, beside its partition and key columns
NARROW_COLUMNS: Final = 40  # so many are shown at once
COLUMNS_A_PAGE: Final = 60
EVERY_COLUMN: Final = "*"
MAX_CHOICES: Final = 200  # columns that the chooser lists
PART_TYPES: Final = {
    "string": "string",
    "bigint": "bigint",
    "double": "double",
    "boolean": "boolean",
    "timestamp": "timestamp",
    "date": "date",
    "variant": "JSON text",
}
"""What a form may ask a part of a variant as; the address takes any type of SQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlan:
    """What the address asks for, checked against the schema.

    Attributes:
        chosen: Names of the chosen columns, in the order of the schema; parts of a
            variant after it.
        is_default: Whether nobody has chosen: the first ones of a wide table.
        all_columns: Every name, for the chooser.
        parts: Parts of variants that are shown, compared or sorted by, by name.
        unread: Of the columns whose values are not read, the type that is not.
        filters: The conditions on one column each; all must hold.
        sql: Those in SQL, in the reader's zone; all must hold, too.
        zone_name: The zone in which SQL is evaluated.
        sort: A column, with - in front to reverse, or nothing.
        page: The page asked for, from 1.
        page_length: How many rows a page has.
        column_page: Which of the pages of chosen columns, from 1.
    """

    schema: StructType
    chosen: tuple[str, ...]
    is_default: bool
    all_columns: tuple[str, ...]
    unread: Mapping[str, str]
    filters: tuple[RowFilter, ...]
    sort: str
    page: int
    page_length: int = PAGE_LENGTH
    column_page: int = 1
    page_columns: int = COLUMNS_A_PAGE
    parts: Mapping[str, VariantPart] = field(default_factory=dict)
    sql: tuple[SQLFilter, ...] = ()
    zone_name: str = UTC_ZONE

    def column(self, name: str) -> StructField | None:
        """Return a column of the version, or a part of a variant."""
        return self.schema.find(name) or self.parts.get(name)

    @property
    def shown(self) -> tuple[str, ...]:
        """Names of the columns of the page, those that are not read as well."""
        start = (self.column_page - 1) * self.page_columns
        return self.chosen[start : start + self.page_columns]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.shown if name not in self.unread)

    @property
    def unread_shown(self) -> dict[str, str]:
        """The part of `unread` that the page shows."""
        return {name: self.unread[name] for name in self.shown if name in self.unread}

    @property
    def read_columns(self) -> tuple[str, ...]:
        """Names of the columns that a job reads: the shown ones and the sorted one.

        A page whose columns are all unread still counts its rows, by the first column
        that is read.
        """
        sort = self.sort.removeprefix("-")
        hidden = (sort,) if sort and sort not in self.columns else ()
        readable = (name for name in self.all_columns if name not in self.unread)
        return (*self.columns, *hidden) or tuple(islice(readable, 1))

    @property
    def num_column_pages(self) -> int:
        return max(-(-len(self.chosen) // self.page_columns), 1)

    @property
    def first_column(self) -> int:
        return (self.column_page - 1) * self.page_columns + 1

    @property
    def last_column(self) -> int:
        return self.first_column + len(self.shown) - 1

    @property
    def num_hidden(self) -> int:
        return len(self.all_columns) - self.num_chosen

    @property
    def num_chosen(self) -> int:
        return len(self.chosen) - self.num_parts

    @property
    def num_parts(self) -> int:
        return sum(name in self.parts for name in self.chosen)

    @property
    def variants(self) -> list[str]:
        """The first columns of variants."""
        found = (f.name for f in self.schema.fields if f.data_type == VARIANT)
        return list(islice(found, MAX_CHOICES))

    @property
    def part_choices(self) -> list[tuple[str, bool]]:
        """Parts of variants for the chooser, and whether each is chosen."""
        return [(name, name in self.chosen) for name in self.parts]

    @property
    def conditions(self) -> tuple[RowFilter | SQLFilter, ...]:
        return (*self.filters, *self.sql)

    @property
    def predicate(self) -> str:
        """The conditions as SQL, or nothing."""
        return " AND ".join(f"({wanted.sql})" for wanted in self.conditions)

    @property
    def condition(self) -> str:
        """The conditions in words, or nothing."""
        return " and ".join(wanted.text for wanted in self.conditions)

    @property
    def offset(self) -> int:
        """The first row of the block that holds the page."""
        return self.rows_before // self.block_length * self.block_length

    @property
    def rows_before(self) -> int:
        """The number of rows on the pages before this one."""
        return (self.page - 1) * self.page_length

    @property
    def block_length(self) -> int:
        """How many rows one job reads: as many whole pages as fit."""
        return BLOCK_LENGTH // self.page_length * self.page_length

    @property
    def filterable(self) -> list[str]:
        """The first columns that a condition may name; the address takes any."""
        fields = chain(self.parts.values(), self.schema.fields)
        names = (field.name for field in fields if is_plain(field.data_type))
        return list(islice(names, MAX_CHOICES))

    @property
    def has_instants(self) -> bool:
        kinds = (field.data_type for field in self.schema.fields)
        return PrimitiveType("timestamp") in kinds

    def choices(self, text: str = "") -> list[tuple[str, bool]]:
        """Return columns for the chooser and whether each is chosen.

        Args:
            text: What the name of a column holds; "" for the first ones. Those that
                are chosen are listed too, after those that are looked for.
        """
        needle = text.lower()
        found = [name for name in self.all_columns if needle in name.lower()]
        names = dict.fromkeys((*found[:MAX_CHOICES], *self.chosen[:MAX_CHOICES]))
        chosen = frozenset(self.chosen)
        if not text:  # in the order of the schema
            names = dict.fromkeys(name for name in self.all_columns if name in names)
        return [(name, name in chosen) for name in names]

    def for_export(self) -> "RowPlan":
        """Return the plan of an export: every chosen column, all where nobody chose."""
        chosen = self.all_columns if self.is_default else self.chosen
        return replace(
            self, chosen=chosen, column_page=1, page_columns=max(len(chosen), 1)
        )


def row_plan(
    schema: StructType, query: RowQuery, zone: tzinfo, leading: Sequence[str] = ()
) -> RowPlan:
    """Check a query against the schema of the version.

    Args:
        zone: Where a timestamp without a zone is.
        leading: Columns that a wide table shows beside its first ones.
    """
    names = schema.names
    known = frozenset(names)
    sorted_by = query.sort.removeprefix("-")
    parts: dict[str, VariantPart] = {}
    for parameter, asked in (("col", query.columns), ("sort", (sorted_by,))):
        for name in asked:
            if not name or name in known or name == EVERY_COLUMN:
                continue
            found = find_part(schema, name, parameter)
            if found is None:
                raise UnknownColumnError(part=parameter, name=name, names=names)
            parts[name] = found
    written = [text for text in query.filters if is_sql(schema, text)]
    sql = tuple(sql_filter(schema, text, zone) for text in written)
    filters = tuple(
        row_filter(schema, text, zone) for text in query.filters if text not in written
    )
    named = [wanted.part for wanted in filters if wanted.part is not None]
    for part in chain(named, *(wanted.parts for wanted in sql)):
        parts.setdefault(part.name, part)
    unread = {
        field.name: kind
        for field in schema.fields
        if (kind := unread_type(field.data_type))
    }
    chosen = _chosen(names, query.columns, leading, parts)
    if query.columns and all(name in unread for name in chosen):
        expected = f"a column that is read, which {shortened_name(chosen[0])!r} is not"
        raise QueryError(part="col", expected=expected)
    if sorted_by in unread:
        raise QueryError(part="sort", expected="a column whose values are read")
    plan = RowPlan(
        schema=schema,
        chosen=chosen,
        is_default=not query.columns,
        all_columns=names,
        unread=unread,
        filters=filters,
        sql=sql,
        zone_name=str(zone) if sql else UTC_ZONE,
        sort=query.sort if sorted_by in known or sorted_by in parts else "",
        page=query.page,
        page_length=query.limit,
        column_page=query.column_page,
        parts=parts,
    )
    return replace(plan, column_page=min(plan.column_page, plan.num_column_pages))


def _chosen(
    names: Sequence[str],
    asked: Sequence[str],
    leading: Sequence[str],
    parts: Mapping[str, VariantPart],
) -> tuple[str, ...]:
    """Return the names that were asked for, or what a table starts with."""
    every = EVERY_COLUMN in asked or (not asked and len(names) <= NARROW_COLUMNS)
    wanted = frozenset(names if every else asked or (*names[:FIRST_COLUMNS], *leading))
    below: dict[str, list[str]] = {}
    for name in asked:
        if name in parts:
            below.setdefault(parts[name].column, []).append(name)
    return tuple(
        chosen
        for name in names
        for chosen in ([name] * (name in wanted) + below.get(name, []))
    )
