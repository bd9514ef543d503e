"""Which clients can read a table as it is shared, from what is indexed of it."""

import json
from typing import Any

import pytest

from apps.sharing.clients.preflight import (
    preflight,
    preflight_data,
    preflights,
    preflights_of,
)
from apps.sharing.models import SharedTable
from deltaweb.sharing.clients import HelpfulSetting, How
from tests.support.pages.factories import (
    new_metadata,
    new_protocol,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_unindexed_table,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def test_a_plain_table_is_read_by_every_client() -> None:
    table = new_table("orders")
    new_metadata(table)
    new_protocol(table)

    found = preflight(table)

    assert found.state == "clean"
    assert found.num_reading == len(found.clients) > 3


def test_a_feature_that_is_used_is_named_with_its_reason() -> None:
    table = new_table("orders")
    new_metadata(table, configuration={"delta.columnMapping.mode": "id"})
    new_protocol(table, min_reader_version=2)

    found = preflight(table)

    assert found.state == "partly"
    assert found.num_reading == len(found.clients) - 1
    assert found.blocking == "columnMapping"
    assert found.idle_features == ()


@pytest.mark.parametrize("by", ["table", "share", "recipient"])
def test_a_feature_that_plain_files_lack_is_no_obstacle(by: str) -> None:
    table = new_table("orders")
    new_metadata(table, configuration={"delta.columnMapping.mode": "id"})
    new_protocol(table, min_reader_version=2)
    share = new_share("retail", plain=by == "share")
    shared = new_shared_table(share, "s.orders", table=table, plain=by == "table")
    recipient = new_recipient(plain=by == "recipient")

    for_it = preflights_of([shared], recipient)[shared.id]
    for_all = preflights_of([shared])[shared.id]

    assert (for_it.state, for_it.blocking) == ("clean", "")
    assert (for_all.state == "clean") is (by != "recipient")


def test_what_no_client_reads_is_refused() -> None:
    table = new_table("orders")
    new_metadata(table)
    new_protocol(table, min_reader_version=3, reader_features=["catalogManaged"])

    found = preflight(table)

    assert found.state == "refused"
    assert found.blocking == "catalogManaged"


def test_a_feature_that_is_merely_supported_is_no_obstacle() -> None:
    table = new_table("orders")
    new_metadata(table)
    new_protocol(
        table,
        min_reader_version=3,
        reader_features=["deletionVectors", "columnMapping"],
    )

    found = preflight(table)

    assert found.state == "clean"
    assert found.idle_features == ("deletionVectors", "columnMapping")


def test_deletion_vectors_that_nobody_looked_for_are_said_to_be_unknown() -> None:
    table = new_table("orders")
    new_metadata(table, configuration={"delta.enableDeletionVectors": "true"})
    new_protocol(table, min_reader_version=3, reader_features=["deletionVectors"])

    found = preflight(table)

    assert found.state == "partly"
    assert "Each query checks" in found.note


def test_a_type_that_some_clients_do_not_know_is_partly_read() -> None:
    table = new_table("orders")
    field = {"name": "v", "type": "void", "nullable": True, "metadata": {}}
    new_metadata(table, schema_string=json.dumps({"type": "struct", "fields": [field]}))
    new_protocol(table)

    found = preflight(table)

    assert found.state == "partly"
    assert 0 < found.num_reading < len(found.clients)


def test_the_newest_protocol_and_metadata_decide() -> None:
    table = new_table("orders")
    new_metadata(table, 0, configuration={"delta.columnMapping.mode": "id"})
    new_metadata(table, 2)
    new_protocol(table, 0)
    new_protocol(table, 1, min_reader_version=2)

    assert preflight(table).state == "clean"


@pytest.mark.parametrize("schema", ["", "no JSON", '{"type": "struct"}'])
def test_a_schema_that_does_not_parse_leaves_the_table_unknown(schema: str) -> None:
    table = new_table("orders")
    new_metadata(table, schema_string=schema)
    new_protocol(table)

    found = preflight(table)

    assert found.state == "unknown"
    assert found.note


def test_a_table_without_an_index_is_unknown_and_its_data_says_so() -> None:
    found = preflight(new_unindexed_table("orders"))

    data = preflight_data(found)

    assert found.state == "unknown"
    assert data["known"] is False
    assert data["clients"] == []


def test_many_tables_are_looked_up_by_three_queries(django_assert_num_queries):
    tables = [new_table(f"t{number}") for number in range(20)]
    for table in tables:
        new_metadata(table)
        new_protocol(table)

    with django_assert_num_queries(3):
        found = preflights([table.id for table in tables])

    assert len(found) == 20


def mapped_table() -> SharedTable:
    """A shared table whose files have other names for its columns."""
    table = new_table("orders")
    new_metadata(table, configuration={"delta.columnMapping.mode": "id"})
    new_protocol(table, min_reader_version=2)
    return new_shared_table(new_share("retail"), "crm.orders", table=table)


class TestPlainFiles:
    def test_are_what_helps_a_client_that_reads_only_files(self) -> None:
        found = preflights_of([mapped_table()])
        (one,) = found.values()

        assert one.remedies == [(HelpfulSetting.PLAIN, ["Power BI"])]

    @pytest.mark.parametrize("by", ["table", "share", "recipient"])
    def test_are_read_by_every_client_whoever_has_the_setting(self, by: str) -> None:
        shared, recipient = mapped_table(), new_recipient("globex")
        things: dict[str, Any] = {
            "table": shared,
            "share": shared.share,
            "recipient": recipient,
        }
        things[by].plain = True

        (one,) = preflights_of([shared], recipient).values()

        assert one.state == "clean"
        assert one.misreadings == ()
        assert {client.how for client in one.clients if client.name == "Power BI"} == {
            How.PLAIN
        }

    def test_do_not_help_where_ids_do(self) -> None:
        shared = mapped_table()
        shared.share.with_field_ids = False

        (one,) = preflights_of([shared]).values()

        assert dict(one.remedies)[HelpfulSetting.IDS] == [
            "Polars with Iceberg",
            "Daft",
        ]

    def test_are_nothing_that_recipients_of_others_get(self) -> None:
        shared = mapped_table()

        (one,) = preflights_of([shared], new_recipient("globex")).values()

        assert one.state == "partly"
