"""Rehearsals are asked for by a button or a night, and shown where they matter."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.jobs.models import Job
from apps.sharing.models import Certificate, Recipient, SharedTable
from apps.sharing.recipients.rehearsals import nightly
from apps.sharing.recipients.rehearsals.client_program import (
    CLIENTS,
    DIRECTORY,
)
from tests.functional.sharing_pages.pages import as_json, page, posted
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_token,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NIGHT = datetime(2026, 5, 1, 2, 30, tzinfo=UTC)


@pytest.fixture
def orders(acme: Recipient) -> SharedTable:
    share = new_share("sales")
    new_grant(share, acme)
    return new_shared_table(share, "crm.orders")


def broken(acme: Recipient, orders: SharedTable, client: str = "polars") -> Certificate:
    return Certificate.objects.create(
        recipient=acme,
        shared_table=orders,
        client=client,
        client_version="2.1",
        version=5,
        duration_s=1.25,
        error="ValueError: Could not parse datatype: timestamp_ntz",
        remedy="Read it in the delta format.",
        rehearsed_at=timezone.now(),
        passed_version=3,
        broken_version=5,
    )


def test_a_broken_client_is_marked_on_the_pages_of_recipient_and_share(
    admin, acme, orders
) -> None:
    broken(acme, orders)

    assert "it fails since version 5, and last read version 3" in page(
        admin, f"/recipients/{acme.name}/"
    )
    assert "broken since v5" in page(admin, "/shares/sales/")
    (told,) = as_json(admin, f"/recipients/{acme.name}.json")["broken"]
    assert (told["client"], told["table"]) == ("polars", "sales.crm.orders")
    shown = page(admin, f"/recipients/{acme.name}/rehearsals")
    assert "0 of 1 readings passed" in shown
    assert "Read it in the delta format." in shown


@cases(
    "missing, told",
    {
        "by the command": ([], ["spark"]),
        "by a job": ([DIRECTORY], ["spark", DIRECTORY]),
    },
)
def test_a_client_that_is_not_installed_is_named_whoever_rehearsed(
    admin, acme, orders, missing, told
) -> None:
    for client in {*CLIENTS} - {"spark", DIRECTORY}:
        broken(acme, orders, client)
    job = nightly.request_rehearsal(acme, now=timezone.now())
    Job.objects.filter(id=job.id).update(
        state=Job.State.DONE,
        result={
            "recipient": acme.name,
            "rehearsed_at": "2026-11-01T00:00:00Z",
            "readings": [],
            "missing": missing,
            "untried": [],
            "passed": True,
        },
    )

    shown = page(admin, f"/recipients/{acme.name}/rehearsals")
    document = as_json(admin, f"/recipients/{acme.name}/rehearsals.json")

    assert document["missing"] == told
    assert f"Not installed on this server: {', '.join(told)}." in shown


def test_the_button_asks_for_one_job(admin, acme) -> None:
    assert "No rehearsal yet" in page(admin, f"/recipients/{acme.name}/rehearsals")
    for _ in range(2):
        posted(admin, f"/recipients/{acme.name}/rehearsals")

    (job,) = Job.objects.filter(kind=nightly.REHEARSE_RECIPIENT.name)
    document = as_json(admin, f"/recipients/{acme.name}/rehearsals.json")
    assert document["job"] == str(job.id)
    assert document["certificates"] == []


@cases(
    "hour, now, expected",
    {
        "never": (-1, NIGHT, []),
        "this night": (2, NIGHT, ["acme"]),
        "since yesterday": (23, NIGHT, ["acme"]),
        "not yet": (3, NIGHT, []),
        "the night is over": (2, NIGHT + timedelta(hours=7), []),
    },
)
def test_a_night_rehearses_once_for_who_can_come_in(
    orders, settings: Settings, hour, now, expected
) -> None:
    settings.REHEARSAL_HOUR = hour
    (acme,) = orders.share.recipients.all()
    new_token(acme, expires_at=NIGHT + timedelta(days=9))
    new_grant(orders.share, new_recipient("without-a-token"))
    new_token(new_recipient("without-a-grant"), expires_at=NIGHT + timedelta(days=9))

    nightly.request_due_rehearsals(now=now)
    for job in Job.objects.all():
        job.state = Job.State.DONE
        job.save()

    assert nightly.request_due_rehearsals(now=now) == 0
    titles = Job.objects.values_list("title", flat=True)
    assert list(titles) == [f"Rehearse what {name} reads" for name in expected]
