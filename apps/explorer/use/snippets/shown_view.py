"""Which version, columns and rows a page shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.explorer.rows.filters import RowFilter
from apps.pages.snippets import variable
from deltaweb.delta.scan.variant_parts import VariantPart
from deltaweb.delta.values.time_zones.known import UTC_ZONE


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownView:
    """A version of a table, or a part of it.

    Attributes:
        name: The table's name, without its namespace.
        location: Its folder or URL.
        version: The version; None for the newest, whichever that is.
        columns: The chosen columns; empty for all.
        filters: The conditions on one column each; all must hold.
        sql: Those in SQL; all must hold, too.
        time_zone: The zone in which SQL is evaluated.
        parts: Those columns that are parts of variants, by name.
        shared_as: What recipients address it by, `share.schema.table`; "" where it
            is in no share, or not with this version.
        data_url: Where its rows are JSON: the page, absolute.
        has_text_partitions: Whether folders hold any text, as values of partitions.
        has_nested: Whether any of its columns holds arrays, maps or structs.
        has_variants: Whether any of its columns is a variant, or holds one.
        refusals: Why a client cannot read it, a sentence, by the client's name.
        doubts: The same where that is not known.
        write_refusal: Why deltaweb does not write to the table, or nothing.
    """

    name: str
    location: str
    version: int | None
    columns: tuple[str, ...] = ()
    filters: tuple[RowFilter, ...] = ()
    sql: tuple[str, ...] = ()
    time_zone: str = UTC_ZONE
    parts: Mapping[str, VariantPart] = field(default_factory=dict)
    shared_as: str = ""
    data_url: str = ""
    has_text_partitions: bool = False
    has_nested: bool = False
    has_variants: bool = False
    refusals: Mapping[str, str] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)
    write_refusal: str = ""

    @property
    def variable(self) -> str:
        return variable(self.name)

    @property
    def is_remote(self) -> bool:
        return "://" in self.location
