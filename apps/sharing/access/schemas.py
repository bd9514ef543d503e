"""Schemas that are shared whole: which tables of the catalogue they are by now.

A table that is registered, or moved there, is shared when somebody next looks: its row,
whose id recipients know it by, is made then. What leaves the namespace, or is hidden
from viewers, is not offered as long as that is so, and keeps its row. What the share
offers a part of already is not offered whole beside it, whatever it is called by then.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.db.models import F, Q, QuerySet

from apps.sharing.errors import NameInvalidError
from apps.sharing.models import Share, SharedSchema, SharedTable
from apps.sharing.names import check_name, name_key
from apps.tables.models import Table
from apps.tables.models.rights import is_open
from apps.tables.storage.received import is_received

RULED: Final = Q(condition__gt="") | ~Q(columns=[]) | Q(rules__isnull=False)
"""Shared tables of which somebody may not see all rows or columns."""
PLAIN: Final = Q(plain=True) | Q(share__plain=True) | Q(share__recipients__plain=True)
"""Shared tables of which a recipient gets plain files."""


def resolve_schemas(share: Share) -> list[SharedSchema]:
    """Bring the schemas of a share up to what the catalogue has, and return them."""
    schemas = list(share.shared_schemas.all())
    for schema in schemas:
        _rename(schema)
        missing = list(_missing(schema))
        if missing:
            # Of two that find a table at once, one makes its row.
            SharedTable.objects.bulk_create(
                _rows(schema, missing), ignore_conflicts=True
            )
    return schemas


def unshared_tables(schema: SharedSchema) -> list[tuple[Table, str]]:
    """Return the tables of a schema that cannot be shared, each with why.

    Ask after `resolve_schemas`, as the page of a share does.
    """
    tables = Table.objects.filter(namespace=schema.namespace)
    hidden = tables.exclude(is_open())
    partly = tables.filter(is_open(), id__in=_ruled(schema))
    found = [(table, "it is private") for table in hidden]
    found += [(table, "the share has a part of it already") for table in partly]
    return found + [(table, _fault(table)) for table in _missing(schema)]


def _rename(schema: SharedSchema) -> None:
    """Let tables that have another name in the catalogue have it here, too."""
    renamed = schema.tables.select_related("table").exclude(name=F("table__name"))
    for row in renamed.filter(table__namespace=schema.namespace):
        key = name_key(row.table.name)
        rows = SharedTable.objects.filter(
            share=schema.share_id, schema_key=schema.schema_key, name_key=key
        )
        if not _fault(row.table) and not rows.exclude(id=row.id).exists():
            row.name, row.name_key = row.table.name, key
            row.save(update_fields=["name", "name_key"])


def _missing(schema: SharedSchema) -> Iterable[Table]:
    tables = Table.objects.filter(is_open(), namespace=schema.namespace)
    tables = tables.exclude(id__in=schema.tables.values("table"))
    return tables.exclude(id__in=_ruled(schema)).defer("summary")


def _ruled(schema: SharedSchema) -> "QuerySet[SharedTable, Any]":
    """Return the tables of which a part was put into the share by itself."""
    alone = SharedTable.objects.filter(RULED, share=schema.share_id, from_schema=None)
    return alone.values("table")


def _rows(schema: SharedSchema, tables: Iterable[Table]) -> Iterator[SharedTable]:
    for table in tables:
        if _fault(table):
            continue
        yield SharedTable(
            share_id=schema.share_id,
            from_schema=schema,
            table=table,
            schema=schema.schema,
            schema_key=schema.schema_key,
            name=table.name,
            name_key=name_key(table.name),
            **schema.terms,
            added_at=max(schema.added_at, table.created_at),
            added_by_id=schema.added_by_id,
        )


def _fault(table: Table) -> str:
    """Return why a table cannot be shared by its own name, or ""."""
    if is_received(table.location):
        return "it is a received table"
    try:
        check_name(table.name, "table")
    except NameInvalidError as error:
        return f"its name cannot be used in a share: {error.reason}"
    return ""
