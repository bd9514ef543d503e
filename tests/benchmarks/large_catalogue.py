"""A catalogue of many tables as their indexes have left it, and who may see which."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

NOW: Final = datetime(2026, 11, 21, 12, tzinfo=UTC)
NUM_TABLES: Final = 100_000
NUM_NAMESPACES: Final = 200
NUM_PRIVATE: Final = 5_000
ADMIN: Final = "bench-admin"
VIEWER: Final = "bench-viewer"
NUM_GRANTED: Final = 200  # of the private ones, to the viewer
COLUMNS: Final = (
    *("id", "customer_id", "created_at", "updated_at", "country", "currency", "total"),
    *("status", "is_deleted", "address.street", "address.city", "address.zip"),
    *("source", "batch_id", "tags", "price", "quantity", "discount", "note"),
)
FEATURES: Final = (
    ["appendOnly", "invariants"],
    ["appendOnly", "deletionVectors", "invariants"],
    ["appendOnly", "columnMapping", "invariants"],
    ["changeDataFeed", "deletionVectors", "invariants", "rowTracking"],
)


def fill_catalogue(num_tables: int = NUM_TABLES) -> tuple[Any, Any]:
    """Make tables and grants; return an administrator and a viewer.

    A database that was filled before is used as it is.
    """
    from apps.accounts.models import User

    known = User.objects.filter(username__in=(ADMIN, VIEWER)).order_by("username")
    if len(known) == 2:
        return known[0], known[1]
    from django.db import transaction

    with transaction.atomic():
        return _fill(num_tables)


def _fill(num_tables: int) -> tuple[Any, Any]:
    from apps.accounts.models import User
    from apps.tables.models import (
        ColumnWords,
        Commit,
        Namespace,
        ProtocolVersion,
        Table,
        TableColumn,
    )
    from apps.tables.models.row_loading import insert_rows, stored_values

    owners = User.objects.bulk_create(
        User(username=f"owner_{number:02}", role=User.Role.EDITOR, password="!")
        for number in range(20)
    )
    Namespace.objects.ensure((_namespace(n) for n in range(NUM_NAMESPACES)), NOW)
    tables = [_table(number, owners) for number in range(num_tables)]
    _insert(Table, tables)
    keys = stored_values(TableColumn, "table", [table.pk for table in tables])
    [committed_at] = stored_values(Commit, "committed_at", [NOW])
    insert_rows(Commit, _COMMIT, _commits(keys, committed_at))
    insert_rows(TableColumn, ("table", "position", "path", "type_text"), _columns(keys))
    insert_rows(ColumnWords, ("table", "paths"), _words(keys))
    insert_rows(ProtocolVersion, _PROTOCOL, _protocols(keys))
    administrator = User.objects.create(username=ADMIN, role=User.Role.ADMIN)
    viewer = User.objects.create(username=VIEWER, role=User.Role.VIEWER)
    private = [table for table in tables if table.is_private]
    grant_each(private[:NUM_GRANTED], viewer)
    return administrator, viewer


def grant_each(tables: list[Any], viewer: Any) -> None:  # noqa: ANN401 (models)
    """Let a viewer see tables: one half as a person, the other as one of a group."""
    from apps.accounts.models import Group, Membership
    from apps.tables.models import Grant

    group = Group.objects.create(name=f"of-{viewer.username}", created_at=NOW)
    Membership.objects.create(group=group, user=viewer, since=NOW)
    Grant.objects.bulk_create(
        Grant(
            table=table,
            right="view",
            given_by=ADMIN,
            given_at=NOW,
            **({"user": viewer} if number % 2 else {"group": group}),
        )
        for number, table in enumerate(tables)
    )


def _insert(model: Any, rows: list[Any]) -> None:  # noqa: ANN401 (models)
    """Insert rows that have a key each, by the fastest way."""
    from apps.tables.models.row_loading import insert_rows, stored_values

    fields = model._meta.concrete_fields  # noqa: SLF001 (public API of Django)
    names = [field.name for field in fields]
    values = [
        stored_values(model, field.name, (getattr(row, field.attname) for row in rows))
        for field in fields
    ]
    insert_rows(model, names, zip(*values, strict=True))


_PROTOCOL: Final = (
    *("table", "version", "min_reader_version", "min_writer_version"),
    *("writer_features", "unsupported_reason"),
)
_COMMIT: Final = (
    *("table", "version", "committed_at", "operation", "user_name", "sentence"),
    *("parameters", "metrics", "engine_info"),
    *("num_added_files", "num_removed_files", "added_bytes", "data_change"),
    *("changes_metadata", "changes_schema", "changes_protocol", "readability"),
    *("readability_reason", "is_archived"),
)


def _commits(keys: list[Any], committed_at: object) -> Iterator[tuple[Any, ...]]:
    for number, key in enumerate(keys):
        yield (
            *(key, number % 900, committed_at, "WRITE", _writer(number), ""),
            *("{}", "{}", ""),
            *(1, 0, 1 << 20, True, False, False, False, "READABLE", "", False),
        )


def _protocols(keys: list[Any]) -> Iterator[tuple[Any, ...]]:
    for number, key in enumerate(keys):
        yield (key, 0, 3, 7, json.dumps(FEATURES[number % len(FEATURES)]), "")


def _columns(keys: list[Any]) -> Iterator[tuple[Any, ...]]:
    for number, key in enumerate(keys):
        for position, path in enumerate(COLUMNS):
            yield (key, position, path, "string")
        yield (key, len(COLUMNS), f"measure_{number % 5_000:04}", "double")


def _words(keys: list[Any]) -> Iterator[tuple[Any, ...]]:
    for number, key in enumerate(keys):
        yield key, "\n".join((*COLUMNS, f"measure_{number % 5_000:04}"))


def _table(number: int, owners: list[Any]) -> Any:  # noqa: ANN401 (a model)
    from apps.tables.models import Table

    is_sized = number % 50 != 0
    return Table(
        namespace=_namespace(number),
        name=f"table_{number:06}",
        location=f"/lake/{_namespace(number)}/table_{number:06}",
        description=f"What team {number % NUM_NAMESPACES} keeps in table {number}",
        is_private=number % (NUM_TABLES // NUM_PRIVATE) == 7,
        created_at=NOW,
        probe_due_at=NOW + timedelta(days=3650),
        owned_by=owners[number % 20] if number % 3 else None,
        tags=[f"tag-{number % 30}", "gold"] if number % 4 == 0 else [],
        state=Table.State.INDEXED,
        version=number % 900,
        latest_version_seen=number % 900,
        committed_at=NOW - timedelta(minutes=number * 7919 % NUM_TABLES),
        indexed_at=NOW,
        error_code="" if number % 500 else "location-unreachable",
        num_files=number * 7919 % NUM_TABLES,
        size_bytes=number * 104_729 % NUM_TABLES << 20 if is_sized else None,
        num_records=number * 1_299_709 % NUM_TABLES if is_sized else None,
        last_writer=_writer(number),
        features=FEATURES[number % len(FEATURES)],
        num_columns=len(COLUMNS) + 1,
        summary={
            "readable_runs": [[0, number % 900, "READABLE", ""]],
            "commits_30d": [day % 7 for day in range(30)],
            "partitions": [
                {"values": {"day": f"2026-11-{day:02}"}, "files": 1, "bytes": 1 << 20}
                for day in range(30)
            ],
        },
    )


def _namespace(number: int) -> str:
    return f"team_{number % NUM_NAMESPACES:03}"


def _writer(number: int) -> str:
    return f"etl-{number % 12}"
