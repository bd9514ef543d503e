"""A table as its pages name it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.pages.page_json import json_with, shaped
from apps.pages.request.server_paths import place_for_reader, text_for_reader
from apps.tables.models import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class TableResource:
    """A registered table as every machine form names it: pages, lists and commands.

    Attributes:
        name: The full name, as commands take it.
        table: The name in its namespace.
        description: The description in the catalog, or else the one in the log.
        owner: The account to ask about it; null without one.
        tags: The words that people file it under, in order.
        state: The state of the index: NEW, INDEXED, UNSUPPORTED or FAILED.
        status: The state of the index and of storage; a key of `STATUSES`.
        restricted: Whether it is private: only grants and administrators count.
        behind: The reason why newer versions cannot be read, in words.
        version: The newest indexed version; null before the first index.
        probed_at: The last time storage was checked for newer versions.
        num_records: The rows of that version; null if unknown for a file.
        error_code: The error of the last check of storage; null without one.
        error_since: The time when this error began.
    """

    name: str
    namespace: str
    table: str
    location: str
    description: str
    restricted: bool
    owner: str | None
    tags: list[str]
    state: str
    status: str
    behind: str | None
    version: int | None
    committed_at: datetime | None
    indexed_at: datetime | None
    probed_at: datetime | None
    files_checked_at: datetime | None
    num_records: int | None
    num_files: int | None
    size_bytes: int | None
    num_columns: int | None
    partition_columns: list[str]
    error_code: str | None
    error_message: str | None
    error_hint: str | None
    error_since: datetime | None
    id: UUID
    url: str


def table_resource(table: Table) -> TableResource:
    """Return a table as its reader may see it."""
    return shaped(
        TableResource,
        table,
        name=table.full_name,
        table=table.name,
        location=place_for_reader(table.location),
        description=table.about,
        restricted=table.is_private,
        owner=table.owner_name,
        status=table.status_key,
        error_message=text_for_reader(table.error, table.location) or None,
        error_hint=text_for_reader(table.error_hint, table.location) or None,
        url=table.get_absolute_url(),
    )


def table_json(table: Table) -> dict[str, Any]:
    """Return the same by its names, for what says more of a table."""
    return json_with(table_resource(table))


def names_of(table: Table) -> dict[str, Any]:
    """Return which table a page is about, and how far its index is."""
    return {
        "namespace": table.namespace,
        "name": table.full_name,
        "table": table.name,
        "latest_version": table.version,
        "state": table.state,
        "behind": table.behind or None,
        "indexed_at": table.indexed_at,
    }
