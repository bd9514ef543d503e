"""Systems get events as signed requests, in order, and again until they take them."""

import socket
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from standardwebhooks.webhooks import WebhookVerificationError

from apps.accounts.models import User
from apps.notices.events.visibility import visible_events
from apps.notices.following.distribution import distribute
from apps.notices.models import Attempt, Delivery, Notice, Webhook
from apps.notices.sending import posting
from apps.notices.sending.webhooks import (
    MAX_A_HOST,
    MAX_ATTEMPTS,
    WAITS,
    send_due,
    send_from,
    take_queues,
)
from apps.tables.models import Table
from tests.functional.notices.conftest import Commit
from tests.functional.notices.receiver import Receiver
from tests.functional.notices.test_following import client_of, follow
from tests.support.pages.factories import new_table, new_user, signed_in
from tests.support.processes.installation import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def add(user: User, url: str, **fields: object) -> tuple[Webhook, str]:
    """Add a webhook; return it and its secret."""
    body = {"url": url, **fields}
    answer = client_of(user).post(
        "/api/v1/webhooks", body, content_type="application/json"
    )
    assert answer.status_code == 201, answer.content
    return Webhook.objects.get(id=answer.json()["id"]), answer.json()["secret"]


def send() -> None:
    """Send what is due, as the threads of a worker do."""
    for one in take_queues(now=timezone.now(), most=32):
        send_from(one)


def make_due() -> None:
    Delivery.objects.waiting().update(due_at=timezone.now() - timedelta(seconds=1))


def _send_until(receivers: Sequence[Receiver], count: int) -> bool:
    """Send what is due, as the clock does; return whether so many events arrived."""
    send_due(now=timezone.now())
    return all(len(one.bodies) >= count for one in receivers)


def _has_no_lease() -> bool:
    return not Webhook.objects.filter(leased_until__gt=timezone.now()).exists()


@pytest.fixture
def hook(tom: User, receiver: Receiver, orders: Table) -> Webhook:
    """A webhook that gets the versions of the table."""
    webhook, _ = add(tom, receiver.url)
    follow(tom, orders.full_name, webhooks=[str(webhook.id)], bell=False)
    return webhook


class TestAnEvent:
    def test_is_signed_as_the_library_of_the_standard_checks(
        self, tom: User, receiver: Receiver, commit: Commit
    ) -> None:
        webhook, secret = add(tom, receiver.url)
        follow(tom, webhooks=[str(webhook.id)])
        commit(3)

        send()

        (event,) = receiver.verified(secret)
        assert event["type"] == "deltaweb.table.version"
        assert event["specversion"] == "1.0"
        assert event["data"]["version"] == 3
        headers = receiver.headers[0]
        assert headers["webhook-id"] == event["id"]
        assert headers["Content-Type"].startswith("application/cloudevents+json")
        other, another_secret = add(tom, receiver.url)
        assert other.salt != webhook.salt
        with pytest.raises(WebhookVerificationError):
            receiver.verified(another_secret)

    @pytest.mark.usefixtures("hook")
    def test_arrives_in_order_for_each_table(
        self, receiver: Receiver, commit: Commit
    ) -> None:
        for number in range(3, 8):
            commit(number)
        receiver.status = 500
        send()
        receiver.status = 204
        make_due()
        send()

        found = [one["data"]["version"] for one in receiver.events()]
        assert found == [3, 3, 4, 5, 6, 7]
        ids = [one["webhook-id"] for one in receiver.headers]
        assert ids[0] == ids[1]
        assert len(set(ids)) == 5

    def test_of_another_table_does_not_wait(
        self, tom: User, hook: Webhook, receiver: Receiver, commit: Commit
    ) -> None:
        returns = new_table("sales.returns")
        follow(tom, "sales.returns", webhooks=[str(hook.id)])
        commit(3)
        receiver.status = 500
        send()
        receiver.status = 204
        commit(4)
        commit(9, returns)

        send()

        assert [one["data"]["version"] for one in receiver.events()] == [3, 9]

    @pytest.mark.usefixtures("hook")
    def test_is_not_sent_to_who_may_not_see_it_by_then(
        self, orders: Table, receiver: Receiver, commit: Commit
    ) -> None:
        commit(3)
        Table.objects.filter(id=orders.id).update(is_private=True)

        send()

        assert receiver.bodies == []
        assert Delivery.objects.get().state == Delivery.State.DROPPED

    @pytest.mark.usefixtures("hook")
    def test_waits_while_its_person_is_suspended(
        self, tom: User, receiver: Receiver, commit: Commit
    ) -> None:
        commit(3)
        User.objects.filter(id=tom.id).update(is_signed_out=True)
        send()
        assert receiver.bodies == []
        User.objects.filter(id=tom.id).update(is_signed_out=False)

        send()

        assert len(receiver.bodies) == 1

    def test_may_be_a_breaking_one_alone(
        self, tom: User, receiver: Receiver, commit: Commit
    ) -> None:
        webhook, _ = add(tom, receiver.url, breaking_only=True)
        follow(tom, webhooks=[str(webhook.id)])
        commit(3)
        commit(4, schema_changed=True, breaking=True)

        send()

        assert [one["data"]["version"] for one in receiver.events()] == [4]


class TestAReceiverThatFails:
    def test_is_paused_after_all_attempts_and_resumed_where_it_stopped(
        self, tom: User, hook: Webhook, receiver: Receiver, commit: Commit
    ) -> None:
        commit(3)
        receiver.status = 503
        for _ in range(MAX_ATTEMPTS):
            make_due()
            send()
        commit(4)
        make_due()
        send()
        hook.refresh_from_db()
        assert hook.paused_at is not None
        assert len(receiver.bodies) == MAX_ATTEMPTS
        client = client_of(tom)
        page = client.get("/notifications/webhooks/").content.decode()
        assert "2 events wait" in page
        assert (
            "webhook paused" in client.get("/notifications/following/").content.decode()
        )

        distribute(now=timezone.now())
        (notice,) = Notice.objects.filter(event__kind="webhook.paused")
        assert notice.user == tom
        assert "1 event waits until you resume it" in notice.event.sentence
        opened = client.get(f"/notifications/{notice.id}/open")
        assert opened["Location"] == f"/notifications/webhooks/#hook-{hook.id}"
        assert not visible_events(new_user("eve"), [notice.event])

        receiver.status = 204
        client.post(f"/notifications/webhooks/{hook.id}/resume")
        send()

        found = [one["data"]["version"] for one in receiver.events()]
        assert found[MAX_ATTEMPTS:] == [3, 4]

    def test_is_tried_within_a_day(self) -> None:
        total = sum(WAITS, timedelta())

        assert timedelta(hours=23) < total <= timedelta(hours=24)

    def test_is_paused_at_once_if_it_says_gone(
        self, hook: Webhook, receiver: Receiver, commit: Commit
    ) -> None:
        receiver.status = 410
        commit(3)

        send()

        hook.refresh_from_db()
        assert "410" in hook.pause_reason

    @pytest.mark.usefixtures("hook")
    def test_is_not_followed_elsewhere(
        self, receiver: Receiver, commit: Commit
    ) -> None:
        receiver.status = 302
        commit(3)

        send()

        assert len(receiver.bodies) == 1
        assert Attempt.objects.get().status == 302
        assert Delivery.objects.get().state == Delivery.State.WAITING

    def test_is_asked_by_two_at_a_time(self, tom: User, receiver: Receiver) -> None:
        for _ in range(4):
            webhook, _ = add(tom, receiver.url)
            client_of(tom).post(f"/notifications/webhooks/{webhook.id}/test")

        taken = take_queues(now=timezone.now(), most=32)

        assert len(taken) == MAX_A_HOST
        assert take_queues(now=timezone.now(), most=32) == []

    def test_delays_no_other_one(
        self, tom: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(posting, "TIMEOUT_S", 55.0)
        settings.WEBHOOK_HOSTS = hosts = [f"127.0.0.{one}" for one in range(2, 23)]
        is_over = Event()
        with ExitStack() as stack:
            slow, *others = [stack.enter_context(Receiver.running(at)) for at in hosts]
            stack.callback(is_over.set)
            slow.wait = lambda: is_over.wait(50)
            hooks = [add(tom, one.url)[0] for one in (slow, *others)]

            for count in (1, 2):
                for hook in hooks:
                    client_of(tom).post(f"/notifications/webhooks/{hook.id}/test")
                assert wait_for(partial(_send_until, others, count), timeout_s=45)

            assert len(slow.bodies) == 1
            is_over.set()
            assert wait_for(partial(_send_until, [slow, *others], 2), timeout_s=45)
            assert wait_for(_has_no_lease)

    def test_comes_before_one_that_had_a_turn_since(
        self, tom: User, settings: Settings
    ) -> None:
        settings.WEBHOOK_HOSTS = hosts = ["127.0.0.2", "127.0.0.3"]
        turns = []
        with ExitStack() as stack:
            receivers = [stack.enter_context(Receiver.running(at)) for at in hosts]
            hooks = [add(tom, one.url)[0] for one in receivers]
            first, second = sorted(one.id for one in hooks)
            for _ in range(4):
                for hook in hooks:
                    client_of(tom).post(f"/notifications/webhooks/{hook.id}/test")
                [taken] = take_queues(now=timezone.now(), most=1)
                send_from(taken)
                turns.append(taken)

        assert turns == [first, second] * 2

    @pytest.mark.usefixtures("hook")
    def test_has_taken_an_event_however_long_its_answer_is(
        self, receiver: Receiver, commit: Commit
    ) -> None:
        receiver.status, receiver.answer = 200, b"x" * 1_000_000
        commit(3)

        send()

        assert Delivery.objects.get().state == Delivery.State.DONE
        assert len(Attempt.objects.get().answer) == 4_000

    @pytest.mark.usefixtures("hook")
    def test_goes_on_after_a_killed_process(
        self, receiver: Receiver, commit: Commit
    ) -> None:
        commit(3)
        take_queues(now=timezone.now() - timedelta(minutes=2), most=32)

        send()

        assert len(receiver.bodies) == 1


class TestAnAddress:
    @pytest.mark.parametrize(
        "url",
        [
            "http://127.0.0.1:8000/x",
            "https://127.0.0.1/x",
            "https://169.254.169.254/latest",
            "https://10.1.2.3/",
            "https://[::1]/",
            "https://localhost/",
            "http://1.1.1.1/",
            "https://user@1.1.1.1/",
            "ftp://1.1.1.1/",
            "https:///x",
            "https://1.1.1.1/a\nb",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://127.1/",
            "https://[::ffff:127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://1.1.1.1\\@127.0.0.1/",
            "https://a b.example.org/",
            f"https://{'a' * 300}.example.org/",
        ],
    )
    def test_inside_of_the_network_is_refused(self, url: str) -> None:
        answer = signed_in().post(
            "/api/v1/webhooks", {"url": url}, content_type="application/json"
        )

        assert answer.status_code == 422

    def test_whose_name_is_not_known_in_time_is_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        look_up, is_over = socket.getaddrinfo, Event()

        def slow(host: str, *given: Any, **named: Any) -> Any:  # noqa: ANN401 (as the original)
            if host == "late.example.org":
                is_over.wait(30)
            return look_up(host, *given, **named)

        monkeypatch.setattr(socket, "getaddrinfo", slow)
        monkeypatch.setattr(posting, "LOOK_UP_S", 0.1)
        monkeypatch.setattr(posting, "TIMEOUT_S", 0.1)
        url = "https://late.example.org/"
        answer = signed_in().post(
            "/api/v1/webhooks", {"url": url}, content_type="application/json"
        )
        sent = posting.post(url, b"{}", {})
        is_over.set()

        assert answer.status_code == 422
        assert "not known after 0.1 seconds" in answer.json()["message"]
        assert (sent.status, sent.took_s < 10) == (None, True)

    @pytest.mark.usefixtures("hook")
    def test_is_checked_again_when_it_is_sent_to(
        self, receiver: Receiver, commit: Commit, settings: Settings
    ) -> None:
        commit(3)
        settings.WEBHOOK_HOSTS = []

        send()

        assert receiver.bodies == []
        assert Attempt.objects.get().status is None


class TestItsPage:
    def test_shows_each_attempt_and_sends_again(
        self, tom: User, hook: Webhook, receiver: Receiver, commit: Commit
    ) -> None:
        commit(3)
        send()
        client = client_of(tom)
        page = client.get("/notifications/webhooks/").content.decode()
        assert "sales.orders v3" in page
        assert "1 of 8" in page

        delivery = Delivery.objects.get()
        path = f"/notifications/webhooks/{hook.id}/deliveries/{delivery.id}/again"
        client.post(path)
        send()

        ids = {one["webhook-id"] for one in receiver.headers}
        assert (len(receiver.bodies), len(ids)) == (2, 1)

    @pytest.mark.usefixtures("hook")
    @pytest.mark.parametrize("show", ["", "?show=waiting"])
    def test_names_nothing_that_its_person_no_longer_sees(
        self, tom: User, orders: Table, commit: Commit, show: str
    ) -> None:
        commit(3)
        if not show:
            send()
        page = f"/notifications/webhooks/{show}"
        before = client_of(tom).get(page).content.decode()
        Table.objects.filter(id=orders.id).update(is_private=True)

        after = client_of(tom).get(page).content.decode()

        assert "sales.orders v3" in before
        assert "sales.orders v3" not in after

    def test_sends_a_test(self, tom: User, hook: Webhook, receiver: Receiver) -> None:
        client_of(tom).post(f"/notifications/webhooks/{hook.id}/test")

        send()

        assert receiver.events()[0]["type"] == "deltaweb.webhook.test"

    def test_shows_a_new_secret_once(self, tom: User, hook: Webhook) -> None:
        client = client_of(tom)

        answer = client.post(f"/notifications/webhooks/{hook.id}/secret")

        assert "whsec_" in answer.content.decode()
        assert "no-store" in answer["Cache-Control"]
        later = client.get("/notifications/webhooks/").content.decode()
        assert later.count("whsec_") == 1  # its end alone

    def test_shows_answers_to_administrators_alone(
        self, tom: User, hook: Webhook, commit: Commit
    ) -> None:
        commit(3)
        send()
        Attempt.objects.update(answer="internal text")

        shown = client_of(tom).get("/notifications/webhooks/").content.decode()
        User.objects.filter(id=tom.id).update(role=User.Role.ADMIN)
        to_admin = client_of(tom).get("/notifications/webhooks/").content.decode()

        assert hook.host in shown
        assert "internal text" not in shown
        assert "internal text" in to_admin

    def test_is_that_of_its_owner_alone(self, hook: Webhook) -> None:
        eve = Client()
        eve.force_login(new_user("eve"))
        follows = {"name": "sales.orders", "webhooks": [str(hook.id)]}

        answers = [
            eve.post(f"/notifications/webhooks/{hook.id}/{action}").status_code
            for action in ("test", "remove", "secret", "resume")
        ]
        answer = eve.post("/api/v1/follows", follows, content_type="application/json")

        assert answers == [404] * 4
        assert answer.status_code == 404
        assert hook.host not in eve.get("/notifications/webhooks/").content.decode()
