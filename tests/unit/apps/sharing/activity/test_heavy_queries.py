"""The heaviest queries of some events, and what would make them less."""

import pytest

from apps.audit.models import AuditEvent
from apps.sharing.activity.heavy_queries import (
    HeavyQuery,
    condition_text,
    heavy_queries,
)
from apps.sharing.models import Recipient, RecipientRule
from apps.tables.models import Commit, MetadataVersion, Table
from deltaweb.sharing.table_query import TableQuery
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_call,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = pytest.mark.django_db


def read(table: Table, size: int, version: int, condition: str = "", **fields):
    return new_call(
        **{
            "at": NOW,
            "share": "retail",
            "schema": "crm",
            "table": "orders",
            "table_id": table.id,
            "version": version,
            "size_bytes": size,
            "detail": {"condition": condition} if condition else {},
        }
        | fields
    )


def found(recipient: Recipient | None = None) -> list[HeavyQuery]:
    reader = recipient or Recipient.objects.first() or new_recipient()
    return heavy_queries(reader, AuditEvent.objects.all())


def test_queries_are_one_by_table_condition_and_way() -> None:
    table = new_table("crm.orders")
    read(table, 10, 1)
    read(table, 30, 2)
    read(table, 5, 2, "day > 3")
    read(table, 7, 2, action="table.changes")
    read(table, 0, 2, "day > 9")

    assert [(one.action, one.condition, one.size_bytes) for one in found()] == [
        ("table.query", "", 40),
        ("table.changes", "", 7),
        ("table.query", "day > 3", 5),
    ]


def test_a_version_read_again_is_advised_against() -> None:
    table = new_table("crm.orders")
    for _ in range(3):
        read(table, 1 << 20, 401)

    (query,) = found()

    assert query.saved_bytes == 2 << 20
    assert "Version 401 was read 3 times" in query.advice


def test_changes_are_advised_where_the_table_records_them() -> None:
    table = new_table("crm.orders")
    read(table, 1000, 1)
    read(table, 1100, 3)
    for version in (2, 3):
        Commit.objects.create(
            table=table, version=version, committed_at=NOW, added_bytes=50
        )
    assert found()[0].advice == ""
    MetadataVersion.objects.create(
        table=table,
        version=0,
        configuration={"delta.enableChangeDataFeed": "true"},
    )

    (query,) = found()

    assert query.saved_bytes == 1000
    assert "only 100 B were new" in query.advice


def test_a_condition_on_the_partitions_is_advised_to_who_reads_all() -> None:
    table = new_table(
        "crm.orders",
        partition_columns=["day"],
        summary={
            "partitions": [{"bytes": 100, "values": {"day": "3"}}],
            "num_partitions": 31,
        },
    )
    new_shared_table(new_share("retail"), "crm.orders", table=table)
    read(table, 2000, 1)
    read(table, 1000, 1, "day = 3")

    whole, part = found()

    assert whole.saved_bytes == 1900
    assert "A condition on day" in whole.advice
    assert "one of 31 partitions, at most 100 B" in whole.advice
    assert part.advice == ""


@cases(
    "columns, num_partitions, said",
    {
        "none is seen": (["id"], 3, ""),
        "one is seen": (["id", "day"], 3, "A condition on day, "),
        "one of which not all is known": (["id", "day"], 9, ""),
    },
)
def test_only_partition_columns_are_advised_that_the_recipient_sees(
    columns: list[str], num_partitions: int, said: str
) -> None:
    partitions = [
        {"bytes": size, "values": {"day": day, "country": country}}
        for size, day, country in ((60, "3", "DE"), (50, "4", "DE"), (40, "4", "FR"))
    ]
    table = new_table(
        "crm.orders",
        partition_columns=["country", "day"],
        summary={"partitions": partitions, "num_partitions": num_partitions},
    )
    shared = new_shared_table(new_share("retail"), "crm.orders", table=table)
    recipient = new_recipient("globex")
    RecipientRule.objects.create(
        shared_table=shared, recipient=recipient, columns=columns
    )
    read(table, 1000, 1)

    (query,) = found(recipient)

    assert "country" not in query.advice
    assert query.advice.startswith(said)
    assert query.saved_bytes == (910 if said else None)  # day 4 is larger
    assert ("one of 2 partitions, at most 90 B" in query.advice) is bool(said)


def test_a_table_that_is_gone_is_counted_all_the_same() -> None:
    table = new_table("crm.orders")
    read(table, 2000, 1)
    table.delete()

    assert [one.size_bytes for one in found()] == [2000]


def test_hints_of_both_kinds_are_kept_as_text() -> None:
    hint = '{"op": "isNull", "children": [{"op": "column", "name": "day"}]}'
    assert condition_text(TableQuery(predicate_hints=("a = 1", "b = 2"))) == (
        "a = 1 AND b = 2"
    )
    assert condition_text(TableQuery(json_predicate_hints=hint)) == "day IS NULL"
    assert condition_text(TableQuery()) == ""
