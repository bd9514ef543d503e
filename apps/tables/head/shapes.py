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
        name: Its full name, as commands take it.
        table: Its bare name in its namespace.
        description: What people wrote of it here, else what its own log says.
        state: What its index holds: NEW, INDEXED, UNSUPPORTED or FAILED.
        status: The same with what storage answers; a key of `STATUSES`.
        behind: What hides newer versions in its log, in words.
        version: The newest indexed one; None before the first index.
        probed_at: When storage was last asked for newer versions.
        num_records: Rows of that version; None where not every file tells.
        error_code: What the newest look at storage failed of; None where it did not.
        error_since: When that began.
    """

    name: str
    namespace: str
    table: str
    location: str
    description: str
    restricted: bool
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
