"""What a recipient was offered, by table and month: the same in every form."""

import csv
import io
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.utils import timezone

from deltaweb.web.audit.models import AuditEvent
from deltaweb.web.sharing.activity.ledger import ledger_of
from deltaweb.web.sharing.models import Recipient
from tests.functional import command_line
from tests.functional.sharing_pages.pages import as_json, page

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = datetime(2026, 1, 11, 12, tzinfo=UTC)


def offer(recipient: Recipient, table: str, size: int, at: datetime = NOW, **fields):
    AuditEvent.objects.create(
        **{
            "at": at,
            "kind": AuditEvent.Kind.CALL,
            "action": "table.query",
            "recipient": recipient.name,
            "recipient_id": recipient.id,
            "share": "retail",
            "schema": "crm",
            "table": table,
            "num_files": 2,
            "size_bytes": size,
        }
        | fields
    )


def test_reads_are_summed_by_month_and_table(acme: Recipient) -> None:
    offer(acme, "orders", 700)
    offer(acme, "orders", 300)
    offer(acme, "items", 5_000)
    offer(acme, "orders", 40, datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC))
    offer(acme, "orders", 9, datetime(2025, 7, 31, tzinfo=UTC))  # before the six

    found = ledger_of(acme, now=NOW)

    assert [
        (f"{one.month:%Y-%m}", one.table, one.num_requests, one.size_bytes)
        for one in found.entries
    ] == [
        ("2026-01", "crm.items", 1, 5_000),
        ("2026-01", "crm.orders", 2, 1_000),
        ("2025-12", "crm.orders", 1, 40),
    ]
    assert [f"{one.month:%Y-%m} {one.size_bytes}" for one in found.months] == [
        *("2026-01 6000", "2025-12 40", "2025-11 0"),
        *("2025-10 0", "2025-09 0", "2025-08 0"),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"status": 403}, id="a refusal"),
        pytest.param({"action": "table.list"}, id="a list"),
        pytest.param({"recipient_id": None}, id="somebody else"),
        pytest.param({"kind": AuditEvent.Kind.CHANGE}, id="a change"),
    ],
)
def test_what_offered_nothing_is_not_counted(acme: Recipient, fields) -> None:
    offer(acme, "orders", 700, **fields)

    assert ledger_of(acme, now=NOW).entries == []


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(datetime(2026, 1, 1, 12, tzinfo=UTC), None, id="first day"),
        pytest.param(datetime(2026, 1, 11, 8, tzinfo=UTC), 3_000, id="a third"),
        pytest.param(datetime(2026, 12, 16, 12, tzinfo=UTC), 0, id="an empty month"),
    ],
)
def test_a_month_is_foretold_as_it_went_so_far(acme, now, expected) -> None:
    offer(acme, "orders", 1_000, datetime(2026, 1, 1, 1, tzinfo=UTC))

    assert ledger_of(acme, now=now).forecast_bytes == expected


def test_the_page_and_the_command_say_the_same(admin: Client, acme: Recipient) -> None:
    offer(acme, "orders", 2_048, timezone.now())
    address = f"/recipients/{acme.name}/usage"

    shown = page(admin, address)
    document = as_json(admin, f"{address}.json")
    statement = b"".join(admin.get(f"{address}.csv")).decode()
    rows = list(csv.reader(io.StringIO(statement)))
    said = command_line.run_json("recipient", "usage", acme.name)

    assert "retail.crm.orders" in shown
    assert "2.0 KiB" in shown
    assert document == said
    assert document["size_bytes"] == 2_048
    assert rows[0] == ["month", "share", "table", "requests", "files", "size_bytes"]
    assert rows[1][1:] == ["retail", "crm.orders", "1", "2", "2048"]


def test_a_recipient_that_read_nothing_is_said(admin: Client, acme: Recipient) -> None:
    assert "Nothing was read this month" in page(
        admin, f"/recipients/{acme.name}/usage"
    )
    said = command_line.Ran("recipient", "usage", acme.name).stdout
    assert "read nothing in the last 6 months" in said
