"""Which of a recipient's tables comes first where only one can be shown."""

import json
from typing import Any

import pytest

from apps.sharing.issuing.activation_page import (
    LOOKED_AT,
    offered_tables,
    to_read_first,
)
from apps.sharing.models import Recipient, Share
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_protocol,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_unindexed_table,
)

pytestmark = pytest.mark.django_db
UNKNOWN_FEATURE: dict[str, Any] = {
    "min_reader_version": 3,
    "reader_features": ["tableTeleport"],
}


@pytest.fixture
def share() -> Share:
    return new_share("retail")


@pytest.fixture
def globex(share: Share) -> Recipient:
    recipient = new_recipient("globex")
    new_grant(share, recipient)
    return recipient


def offer(
    share: Share,
    name: str,
    *,
    num_rows: int = 5,
    **protocol: Any,  # noqa: ANN401 (columns)
) -> None:
    table = new_table(name, num_records=num_rows)
    new_metadata(table)
    new_protocol(table, **protocol)
    new_shared_table(share, name, table=table)


def first_names(recipient: Recipient) -> list[str]:
    return [name.name for name in to_read_first(offered_tables(recipient))]


def test_a_table_with_rows_is_read_first_even_if_less_is_known_of_it(share, globex):
    offer(share, "crm.empty", num_rows=0)
    table = new_unindexed_table("crm.small", num_records=1)
    new_shared_table(share, "crm.small", table=table)

    assert first_names(globex) == ["small", "empty"]


def test_a_table_with_rows_that_every_client_reads_comes_first(share, globex):
    offer(share, "a.refused", **UNKNOWN_FEATURE)
    new_shared_table(share, "b.unknown", table=new_unindexed_table("b.unknown"))
    offer(share, "c.empty", num_rows=0)
    offer(share, "d.orders")
    offer(share, "e.returns")

    assert first_names(globex) == ["orders", "returns", "empty", "unknown", "refused"]


def test_nothing_that_is_offered_is_lost(share: Share, globex: Recipient) -> None:
    for number in range(LOOKED_AT + 2):
        new_shared_table(share, f"a.t{number:03}")

    assert first_names(globex) == [f"t{n:03}" for n in range(LOOKED_AT + 2)]


def test_without_tables_there_are_no_names(globex: Recipient) -> None:
    assert first_names(globex) == []


class TestTrouble:
    def test_a_table_that_is_refused_says_so_and_why(self, share, globex):
        offer(share, "a.refused", **UNKNOWN_FEATURE)

        (table,) = offered_tables(globex)

        assert table.trouble == (
            "Queries are refused for every client. "
            "It needs 'tableTeleport', which this server does not know."
        )

    def test_a_table_that_some_clients_read_names_the_others(self, share, globex):
        table = new_table("a.void")
        field = {"name": "gone", "type": "void", "nullable": True, "metadata": {}}
        schema = {"type": "struct", "fields": [field]}
        new_metadata(table, schema_string=json.dumps(schema))
        new_protocol(table)
        new_shared_table(share, "a.void", table=table)

        (offered,) = offered_tables(globex)

        assert offered.trouble.startswith(
            "Cannot be read by pandas, Polars, DuckDB, PyIceberg, "
        )

    def test_a_table_that_every_client_reads_has_none(self, share, globex):
        offer(share, "a.orders")
        new_shared_table(share, "b.unknown", table=new_unindexed_table("b.unknown"))

        assert [table.trouble for table in offered_tables(globex)] == ["", ""]
