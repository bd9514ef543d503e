"""What recipients filter a table by, and the clients that a commit stopped."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.sharing.health.table_use import with_use
from apps.sharing.models import Certificate, RecipientRule
from apps.tables.models import Table
from deltaweb.health.facts import HealthFacts, StoppedReader
from tests.support.pages.factories import (
    new_call,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.fixture
def orders() -> Table:
    return new_table("crm.orders")


def used(table: Table) -> dict[str, str]:
    facts = with_use(HealthFacts(table="crm.orders"), table, NOW)
    return {one.name: one.used_by for one in facts.used_columns}


def test_columns_of_row_rules_are_used(orders: Table) -> None:
    shared = new_shared_table(table=orders, condition="Country = recipient.country")
    RecipientRule.objects.create(
        shared_table=shared, recipient=new_recipient(), condition="country = 'DE'"
    )
    assert used(orders) == {"country": "2 row rules filter by it"}


def test_columns_of_queries_are_used(orders: Table) -> None:
    new_shared_table(table=orders, condition="status = 'paid'")
    for recipient in ("acme", "acme", "globex"):
        new_call(
            table_id=orders.id,
            recipient=recipient,
            detail={"condition": "amount > 5 AND status = 'paid'"},
            at=NOW - timedelta(days=1),
        )
    assert used(orders) == {
        "amount": "2 recipients filter by it",
        "status": "1 row rule and 2 recipients filter by it",
    }


def test_queries_of_another_month_or_table_are_not_counted(orders: Table) -> None:
    new_shared_table(table=orders)
    asked = {"recipient": "acme", "detail": {"condition": "amount > 5"}}
    new_call(table_id=orders.id, at=NOW - timedelta(days=31), **asked)
    new_call(table_id=new_table("crm.others").id, at=NOW, **asked)
    assert used(orders) == {}


def test_a_condition_that_does_not_parse_names_no_column(orders: Table) -> None:
    new_shared_table(table=orders, condition="country = = 5")
    assert used(orders) == {}


def test_a_table_in_no_share_is_used_by_no_recipient(orders: Table) -> None:
    facts = HealthFacts(table="crm.orders")
    assert with_use(facts, orders, NOW) is facts


def test_a_client_that_a_commit_stopped_is_there_once(orders: Table) -> None:
    shared = new_shared_table(new_share(), table=orders)
    for name in ("acme", "globex"):
        Certificate.objects.create(
            recipient=new_recipient(name),
            shared_table=shared,
            client="polars",
            client_version="2.1",
            duration_s=0.5,
            error="cannot read the feature typeWidening",
            rehearsed_at=NOW,
            passed_version=3,
            broken_version=5,
        )
    facts = with_use(HealthFacts(table="crm.orders"), orders, NOW)
    assert facts.stopped_readers == (
        StoppedReader(
            client="polars 2.1",
            version=5,
            feature="typeWidening",
            error="cannot read the feature typeWidening",
            recipients=("acme", "globex"),
        ),
    )
