"""What a recipient was offered, by table and month: the same in every form."""

import csv
import io
from datetime import UTC, date, datetime

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.sharing.activity.ledger import ledger_of
from apps.sharing.models import Recipient
from tests.functional import command_line
from tests.functional.sharing_pages.pages import as_json, page, posted, refused
from tests.support import cases
from tests.support.pages.factories import new_call, new_table

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = datetime(2026, 1, 11, 12, tzinfo=UTC)


def offer(recipient: Recipient, table: str, size: int, at: datetime = NOW, **fields):
    new_call(
        **{
            "at": at,
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


@cases(
    "fields",
    {
        "a refusal": {"status": 403},
        "a list": {"action": "table.list"},
        "somebody else": {"recipient_id": None},
        "a change": {"kind": AuditEvent.Kind.CHANGE},
    },
)
def test_what_offered_nothing_is_not_counted(acme: Recipient, fields) -> None:
    offer(acme, "orders", 700, **fields)

    assert ledger_of(acme, now=NOW).entries == []


@cases(
    "now, expected",
    {
        "first day": (datetime(2026, 1, 1, 12, tzinfo=UTC), None),
        "a third": (datetime(2026, 1, 11, 8, tzinfo=UTC), 3_000),
        "an empty month": (datetime(2026, 12, 16, 12, tzinfo=UTC), 0),
    },
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
    assert ",".join(rows[0]) == (
        "month,share,table,requests,files,size_bytes,rows,price"
    )
    assert rows[1][1:] == ["retail", "crm.orders", "1", "2", "2048", "", ""]


def test_a_store_has_its_price(admin, acme, settings):
    settings.PRICES, settings.CURRENCY = (
        {"s3://far": 0.5, "s3://": 0.1, "*": 0.25},
        "EUR",
    )
    for name, place in (("far", "s3://far/t"), ("near", "s3a://b/t"), ("disk", "/t")):
        table = new_table(f"crm.{name}", location=place)
        offer(acme, name, 4 << 30, timezone.now(), table_id=table.id, num_rows=7)

    document = as_json(admin, f"/recipients/{acme.name}/usage.json")

    assert {one["table"]: one["price"] for one in document["entries"]} == {
        "crm.far": 2.0,
        "crm.near": pytest.approx(0.4),
        "crm.disk": 1.0,
    }
    assert [one["num_rows"] for one in document["entries"]] == [7, 7, 7]
    assert document["months"][0]["price"] == pytest.approx(3.4)
    assert "EUR so far" in page(admin, f"/recipients/{acme.name}/usage")


def test_limits_are_set_by_page_and_command_and_foretold(admin, acme):
    address = f"/recipients/{acme.name}"
    offer(acme, "orders", 3 << 30, timezone.now())

    assert "above the hard limit" in refused(
        admin, f"{address}/limits", soft="2 TB", hard="1 TB"
    )
    shown = posted(admin, f"{address}/limits", soft="2 GiB", hard="")
    said = command_line.run_json("recipient", "limit", acme.name, "--hard", "8TB")
    command_line.run_json("recipient", "limit", acme.name, "--hard", "1.5 TiB")
    settings_page = page(admin, f"{address}/settings")
    document = as_json(admin, f"{address}/usage.json")

    assert "The soft limit is reached." in shown
    assert said["soft_limit"]["is_reached"]
    assert 'value="1.5 TiB"' in settings_page
    assert document["hard_limit"]["size_bytes"] == 3 << 39
    actions = AuditEvent.objects.filter(kind=AuditEvent.Kind.CHANGE)
    assert actions.filter(action="recipient.set_hard_limit").count() == 2


@cases(
    "day, limit, expected",
    {
        "at the end": (16, 1_999, (False, date(2026, 1, 31))),
        "soon": (16, 1_500, (False, date(2026, 1, 24))),
        "not this month": (16, 9_000, (False, None)),
        "already": (16, 1_000, (True, None)),
        "too early to say": (1, 2_000, (False, None)),
    },
)
def test_a_limit_is_foretold_by_the_pace_of_the_month(acme, day, limit, expected):
    acme.hard_limit_bytes = limit
    offer(acme, "orders", 1_000, datetime(2026, 1, 1, 1, tzinfo=UTC))

    found = ledger_of(acme, now=datetime(2026, 1, day, 12, tzinfo=UTC)).hard_limit

    assert found is not None
    assert (found.is_reached, found.reached_on) == expected


def test_a_recipient_that_read_nothing_is_said(admin: Client, acme: Recipient) -> None:
    assert "Nothing was read this month" in page(
        admin, f"/recipients/{acme.name}/usage"
    )
    said = command_line.Ran("recipient", "usage", acme.name).stdout
    assert "read nothing in the last 6 months" in said
