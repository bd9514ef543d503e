"""The last day that a person enters is the one that every form says."""

from datetime import UTC, datetime

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.notices.following.distribution import distribute
from apps.notices.sending.mails import send_due_mails
from apps.tables.models import AccessRequest
from tests.functional.command_line import Ran
from tests.support.pages.factories import new_table, new_user
from tests.support.pages.shown_words import words

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
DAY = "2030-12-31"
WORDS = "31 Dec 2030"
WRONG = ("2030-12-30", "2031-01-01", "30 Dec 2030", "1 Jan 2031")
ACCESS = "/t/sales/orders/access"


def client_in(zone: str, name: str, role: str = User.Role.VIEWER) -> Client:
    confirmed = {"email": f"{name}@n.example", "email_confirmed_at": timezone.now()}
    client = Client()
    client.force_login(new_user(name, role=role, time_zone=zone, **confirmed))
    return client


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles", "UTC"])
def test_every_form_says_the_last_day(zone: str, settings: Settings) -> None:
    settings.EMAIL_HOST = "localhost"
    new_table("sales.orders", is_private=True, is_listed=True)
    petra = client_in(zone, "petra")
    ada = client_in(zone, "ada", role=User.Role.ADMIN)

    sent = {"purpose": "Q4", "right": "view", "until": DAY}
    petra.post("/t/sales/orders/request", sent)
    distribute(now=timezone.now())
    send_due_mails(now=timezone.now())
    number = AccessRequest.objects.get().id
    before = [
        words(ada.get(ACCESS).content.decode()),
        words(petra.get("/requests/").content.decode()),
        Ran("access", "list").stdout,
        mail.outbox[-1].body,
    ]
    said = Ran("access", "approve", str(number)).stdout
    distribute(now=timezone.now())
    send_due_mails(now=timezone.now())

    pages = [
        words(one.get(path).content.decode())
        for one, path in [
            (ada, ACCESS),
            (ada, f"{ACCESS}?person=petra"),
            (petra, ACCESS),
            (petra, "/requests/"),
        ]
    ]
    texts = [
        said,
        Ran("access", "show", "sales.orders").stdout,
        Ran("grant", "list", "sales.orders").stdout,
        mail.outbox[-1].body,
    ]
    for one in [*before, *texts]:
        assert DAY in one
    for one in pages:
        assert WORDS in one or "31 December 2030" in one
    rest = petra.get("/api/v1/requests").json()["requests"][0]
    assert rest["wanted_until"].startswith(DAY)
    assert rest["until"].startswith(DAY)
    for text in [*before, *pages, *texts]:
        assert not [one for one in WRONG if one in text]


def test_it_is_the_whole_day_in_utc() -> None:
    new_table("sales.orders", is_private=True)
    new_user("petra")

    Ran("grant", "view", "petra", "sales.orders", "--until", DAY)

    until = User.objects.get().grants.get().until
    assert until == datetime(2030, 12, 31, 23, 59, 59, tzinfo=UTC)
