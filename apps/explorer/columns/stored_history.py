"""What became of a table's fields, by the metadata that the database holds."""

from dataclasses import replace
from typing import Final

from django.db.models.functions import Length

from apps.explorer.version.listed import Kept
from apps.tables.models import Table
from deltaweb.delta.changes.column_history import (
    ColumnHistories,
    SchemaDefinition,
    column_histories,
)

MAX_VERSIONS: Final = 5_000  # of the metadata, the newest
MAX_LENGTH: Final = 100_000_000  # characters of their schemas that are read
MAX_KEPT: Final = 4

_kept: Kept[ColumnHistories] = Kept(MAX_KEPT)


def table_histories(table: Table, up_to: int) -> ColumnHistories:
    """Return what became of fields up to a version, kept for the next page."""
    rows = table.metadata_versions.filter(version__lte=up_to).order_by("-version")
    newest = rows.values_list("pk", flat=True).first()
    if newest is None:
        return ColumnHistories()
    key = (table.pk, newest, rows.count())
    return _kept.get(key, lambda: _read(table, up_to))


def _read(table: Table, up_to: int) -> ColumnHistories:
    """Follow the fields through as many definitions as can be read at once."""
    rows = table.metadata_versions.filter(version__lte=up_to)
    lengths = rows.order_by("-version").values_list("version", Length("schema_string"))
    oldest, room, is_cut = up_to, MAX_LENGTH, False
    for number, (version, length) in enumerate(lengths.iterator(chunk_size=500)):
        room -= length or 0
        if number and (room < 0 or number >= MAX_VERSIONS):
            is_cut = True
            break
        oldest = version
    read = (
        rows.filter(version__gte=oldest)
        .order_by("version")
        .values_list("version", "schema_string", "configuration")
    )
    found = column_histories(
        SchemaDefinition.of(version, schema, configuration)
        for version, schema, configuration in read.iterator(chunk_size=8)
    )
    return replace(found, is_cut=True) if is_cut else found
