"""Who decides is told of a request, and who asked is told of the decision."""

from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import Group, Membership, User
from apps.notices.following.distribution import distribute
from apps.notices.models import Notice
from apps.notices.sending.mails import send_due_mails
from apps.tables.models import AccessRequest, Grant, Namespace, Table
from tests.support.pages.factories import new_table, new_user, signed_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


@pytest.fixture(autouse=True)
def orders(settings: Settings) -> Table:
    settings.EMAIL_HOST = "localhost"
    return new_table("sales.orders", is_private=True, is_listed=True)


@pytest.fixture
def petra() -> Client:
    """Somebody without access, who can get mail."""
    confirmed_at = timezone.now()
    user = new_user("petra", email="p@n.example", email_confirmed_at=confirmed_at)
    return client_of(user)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def grant_own(**fields: object) -> None:
    fields = {"right": "own", "given_by": "admin", "given_at": timezone.now()} | fields
    Grant.objects.create(**fields)


def ask(client: Client) -> int:
    sent = {"purpose": "Delivery times", "right": "view", "until": "90d"}
    assert client.post("/t/sales/orders/request", sent).status_code == 302
    distribute(now=timezone.now())
    return AccessRequest.objects.get().id


def told(kind: str) -> list[str]:
    rows = Notice.objects.filter(event__kind=kind, by_bell=True)
    return sorted(rows.values_list("user__username", flat=True))


def test_owners_and_administrators_are_told_of_a_request(
    petra: Client, orders: Table
) -> None:
    now = timezone.now()
    group = Group.objects.create(name="stewards", created_at=now)
    new_user("ada", role=User.Role.ADMIN)
    names = ("tom", "gus", "nora", "late", "gone", "vera")
    tom, gus, nora, late, gone, _ = [new_user(name) for name in names]
    Membership.objects.create(group=group, user=gus, source="local", since=now)
    sales, _ = Namespace.objects.get_or_create(
        name="sales", defaults={"created_at": now}
    )
    grant_own(user=tom, table=orders)
    grant_own(group=group, table=orders)
    grant_own(user=nora, namespace=sales)
    grant_own(user=late, table=orders, until=now - timedelta(days=1))
    grant_own(user=gone, table=orders)
    User.objects.filter(username="gone").update(is_active=False)

    ask(petra)

    assert told("access.requested") == ["ada", "gus", "nora", "tom"]
    page = client_of(tom).get("/notifications/").content.decode()
    assert "petra requests view of sales.orders" in page
    assert 'aria-label="Notifications, 1 new"' in page


def test_an_owner_without_a_confirmed_address_gets_no_mail(
    petra: Client, orders: Table
) -> None:
    tom = new_user("tom", email="tom@n.example", email_confirmed_at=timezone.now())
    una = new_user("una", email="una@n.example")
    grant_own(user=tom, table=orders)
    grant_own(user=una, table=orders)

    ask(petra)
    send_due_mails(now=timezone.now())

    assert [one.to for one in mail.outbox] == [["tom@n.example"]]
    assert "petra requests view of sales.orders" in mail.outbox[0].body


def test_the_requester_is_told_of_a_rejection_of_what_stays_hidden(
    petra: Client,
) -> None:
    number = ask(petra)
    ada = signed_in("ada", role=User.Role.ADMIN)

    ada.post(f"/requests/{number}/reject", {"reason": "Use ml.demand"})
    distribute(now=timezone.now())
    send_due_mails(now=timezone.now())

    assert petra.get("/t/sales/orders/").status_code == 404
    assert told("access.decided") == ["petra"]
    assert "ada rejected" in petra.get("/notifications/").content.decode()
    assert [one.to for one in mail.outbox] == [["p@n.example"]]
    assert "Use ml.demand" in mail.outbox[0].body


def test_nobody_is_told_of_what_they_did(petra: Client) -> None:
    number = ask(petra)

    petra.post(f"/requests/{number}/withdraw")
    distribute(now=timezone.now())

    assert told("access.requested") == []
    assert told("access.decided") == []
