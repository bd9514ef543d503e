"""What operations that make a table have in common: where it is to be, and its name."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils import timezone

from apps.accounts.models import User
from apps.tables.catalogue.adding.source import asker
from apps.tables.catalogue.names import parse_table_name
from apps.tables.catalogue.registration import (
    TableSettings,
    check_name_free,
    register_table,
    stamp_for,
)
from apps.tables.models import Table
from apps.tables.models.rights import MANAGE
from apps.tables.operations.preview import RunContext
from apps.tables.operations.stored import MadeTable
from apps.tables.storage.locations import check_allowed, parse_location
from apps.tables.storage.opening import open_location
from apps.tables.storage.roots import check_usable, roots_for
from deltaweb.delta.errors import LocationNotFoundError, TableNotFoundError
from deltaweb.delta.protocol.schema import StructField, type_text
from deltaweb.delta.writing.concurrent_commits import is_noted
from deltaweb.table import DeltaTable


class TableRequest(Protocol):
    """The parameters of such an operation."""

    @property
    def name(self) -> str: ...

    @property
    def location(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def user_id(self) -> int | None:
        """Who makes it; None for the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownColumn:
    """A column of a table that would be made."""

    name: str
    type: str
    is_nullable: bool
    comment: str
    is_partition: bool


def shown_columns(
    columns: Iterable[StructField], partitions: Collection[str]
) -> Iterator[ShownColumn]:
    """Yield the columns of a table as a preview shows them."""
    for column in columns:
        yield ShownColumn(
            name=column.name,
            type=type_text(column.data_type),
            is_nullable=column.nullable,
            comment=str(column.metadata.get("comment", "")),
            is_partition=column.name in partitions,
        )


def check_table_request(asked: TableRequest) -> None:
    """Refuse a name that is taken, and a place where its maker may have no table."""
    check_name_free(parse_table_name(asked.name))
    location = parse_location(asked.location)
    check_allowed(location, roots=roots_for(_maker(asked)))


def open_place(_table: Table | None, asked: TableRequest) -> DeltaTable:
    """Open the place where a table is to be; who asked may no longer have one there."""
    check_table_request(asked)
    location = parse_location(asked.location)
    check_usable(location, _maker(asked), MANAGE)
    return open_location(location)


def finish_making(
    asked: TableRequest, context: RunContext, action: str
) -> MadeTable | None:
    """Register a table whose maker was killed between the commit and the catalogue.

    The log knows who made it by the preview that was agreed to.

    Returns:
        As `register_made` does; None where the log holds no such commit.
    """
    location = parse_location(asked.location)
    check_usable(location, _maker(asked), MANAGE)
    try:
        if not is_noted(open_location(location).store, context.txn):
            return None
    except (LocationNotFoundError, TableNotFoundError):
        return None
    name = parse_table_name(asked.name)
    there = Table.objects.filter(namespace=name.namespace, name=name.name).first()
    if there is not None and there.location == location:
        return made_table(there, version=0)
    return register_made(asked, context, action, {"version": 0})


def settle_nothing(_table: Table | None, _asked: object, _result: object) -> None:
    """Leave the catalogue: what was made is registered by what made it."""


def register_made(
    asked: TableRequest, context: RunContext, action: str, detail: Mapping[str, Any]
) -> MadeTable:
    """Put a table that was made into the catalogue, and the making into the record.

    Args:
        detail: Of the record; it has the `version`.
    """
    maker = _maker(asked)
    table = register_table(
        name=asked.name,
        location=asked.location,
        settings=TableSettings(description=asked.description),
        created_by=maker,
        stamp=stamp_for(maker, timezone.now()),
        made_by=action,
        detail={**detail, **({"job": context.work} if context.work else {})},
    )
    return made_table(table, version=detail["version"])


def made_table(table: Table, *, version: int | None) -> MadeTable:
    """Return a table that was made, as the result of the operation."""
    return MadeTable(
        table=table.full_name,
        namespace=table.namespace,
        name=table.name,
        version=version,
        location=table.location,
    )


def _maker(asked: TableRequest) -> User | None:
    return None if asked.user_id is None else asker(asked.user_id)
