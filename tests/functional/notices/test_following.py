"""People follow tables and hear of them by the bell and by mail."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.models import User
from apps.notices.events import EventSubject, emit
from apps.notices.following.distribution import distribute, mail_due_at
from apps.notices.kinds.table_version import NEW_VERSION
from apps.notices.models import Event, Follow, Notice
from apps.notices.sending.mails import send_due_mails
from apps.tables.models import Table
from tests.functional.notices.conftest import Commit
from tests.support.pages.factories import new_table, new_user, signed_in
from tests.unit.apps.notices.events.test_emitting import version

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def follow(user: User, name: str = "sales.orders", **fields: object) -> Follow:
    """Follow by the REST API; its key stands for the session."""
    values = {"subject": "namespace" if name.endswith("*") else "table", "name": name}
    body = {"kinds": ["table.version"], "breaking_only": False, **values, **fields}
    answer = client_of(user).post(
        "/api/v1/follows", body, content_type="application/json"
    )
    assert answer.status_code == 201, answer.content
    return Follow.objects.get(id=answer.json()["id"])


class TestTheBell:
    def test_shows_what_happened_to_a_followed_table(
        self, tom: User, commit: Commit
    ) -> None:
        follow(tom)
        commit(3)
        client = client_of(tom)

        page = client.get("/notifications/").content.decode()
        data = client.get("/notifications.json").json()

        assert "sales.orders has version 3" in page
        assert [one["kind"] for one in data["notifications"]] == ["table.version"]
        assert 'aria-label="Notifications, 1 new"' in page
        assert "version 3" in client.get("/notifications/bell").content.decode()

    def test_counts_no_more_what_was_read(self, tom: User, commit: Commit) -> None:
        follow(tom)
        commit(3)
        client = client_of(tom)

        client.post("/notifications/read")

        page = client.get("/notifications/").content.decode()
        assert "Notifications, 0 new" in page
        assert Notice.objects.get().read_at is not None

    def test_leads_to_the_table(self, tom: User, commit: Commit) -> None:
        follow(tom)
        commit(3)

        notice = Notice.objects.get()
        answer = client_of(tom).get(f"/notifications/{notice.id}/open")

        assert answer["Location"] == "/t/sales/orders/"
        other = signed_in("eve").get(f"/notifications/{notice.id}/open")
        assert other.status_code == 404

    def test_hides_what_became_private(
        self, tom: User, orders: Table, commit: Commit
    ) -> None:
        follow(tom)
        commit(3)
        Table.objects.filter(id=orders.id).update(is_private=True)

        data = client_of(tom).get("/notifications.json").json()

        assert data["notifications"] == []


class TestWhoIsTold:
    @pytest.mark.usefixtures("orders")
    def test_is_whoever_follows_the_namespace(self, tom: User, commit: Commit) -> None:
        follow(tom, "sales.*")
        commit(3, new_table("sales.returns"))
        commit(3, new_table("web.clicks"))

        assert [one.event.subject_name for one in Notice.objects.all()] == [
            "sales.returns"
        ]

    def test_is_the_owner_of_the_table(
        self, tom: User, orders: Table, commit: Commit
    ) -> None:
        follow(tom, "", subject="owned")
        commit(3)
        Table.objects.filter(id=orders.id).update(owned_by=tom)
        commit(4)

        assert "version 4" in Notice.objects.get().event.sentence

    def test_is_nobody_twice(self, tom: User, commit: Commit) -> None:
        follow(tom)
        follow(tom, "sales.*")
        commit(3)
        distribute(now=timezone.now())

        assert Notice.objects.count() == 1

    @pytest.mark.parametrize(
        "fields",
        [
            {"is_active": False},
            {"is_signed_out": True},
            {"signed_on_at": datetime(2020, 1, 1, tzinfo=UTC)},
        ],
    )
    def test_is_nobody_who_is_disabled_or_suspended(
        self, tom: User, commit: Commit, fields: dict[str, object]
    ) -> None:
        follow(tom)
        User.objects.filter(id=tom.id).update(**fields)
        commit(3)

        assert not Notice.objects.exists()

    def test_is_nobody_who_may_not_see_the_table(
        self, tom: User, orders: Table, commit: Commit
    ) -> None:
        follow(tom)
        Table.objects.filter(id=orders.id).update(is_private=True)
        commit(3)

        assert not Notice.objects.exists()

    def test_hears_of_breaking_changes_alone_if_wished(
        self, tom: User, commit: Commit
    ) -> None:
        follow(tom, breaking_only=True)
        commit(3)
        commit(4, schema_changed=True, breaking=True)

        assert "version 4" in Notice.objects.get().event.sentence

    def test_is_asked_of_all_people_together(self, orders: Table) -> None:
        def num_queries(names: str) -> int:
            for name in names:
                follow(new_user(name), mail=True)
            Notice.objects.all().delete()
            with transaction.atomic():
                emit(
                    NEW_VERSION,
                    EventSubject("table", str(orders.id), orders.full_name),
                    version(ord(names[0])),
                    now=timezone.now(),
                    table_id=orders.id,
                )
            with CaptureQueriesContext(connection) as queries:
                distribute(now=timezone.now())
            return len(queries)

        few = num_queries("abc")
        assert num_queries("defghijklmnopqrstuvw") <= few
        assert Notice.objects.count() == 23


class TestMail:
    def test_tells_all_events_that_are_due_in_one_mail(
        self, tom: User, commit: Commit
    ) -> None:
        follow(tom, mail=True)
        commit(3)
        commit(4)

        send_due_mails(now=timezone.now())
        send_due_mails(now=timezone.now())

        (sent,) = mail.outbox
        assert sent.to == ["tom@northwind.example"]
        assert "version 3" in str(sent.body)
        assert "version 4" in str(sent.body)
        assert "/notifications/following" in str(sent.body)

    def test_says_nothing_of_what_became_private(
        self, tom: User, orders: Table, commit: Commit
    ) -> None:
        follow(tom, mail=True)
        commit(3)
        Table.objects.filter(id=orders.id).update(is_private=True)

        send_due_mails(now=timezone.now())

        assert mail.outbox == []

    @pytest.mark.parametrize("mail_only", [True, False])
    def test_says_nothing_of_what_is_no_more_followed(
        self, tom: User, commit: Commit, *, mail_only: bool
    ) -> None:
        one = follow(tom, mail=True)
        commit(3)
        client, path = client_of(tom), f"/api/v1/follows/{one.id}"
        if mail_only:
            client.patch(path, {"mail": False}, content_type="application/json")
        else:
            client.delete(path)

        send_due_mails(now=timezone.now())

        assert mail.outbox == []
        assert not Notice.objects.filter(mail_due_at__isnull=False).exists()

    def test_has_no_line_that_a_name_brings(self, tom: User, commit: Commit) -> None:
        follow(tom, mail=True)
        commit(3)
        Event.objects.update(sentence="a\r\nBcc: eve@example.org\n\nSign in: evil")

        send_due_mails(now=timezone.now())

        (sent,) = mail.outbox
        assert sent.subject.endswith("a Bcc: eve@example.org Sign in: evil")
        assert "\nBcc" not in str(sent.body)

    def test_to_a_bad_address_stops_no_other_one(
        self, tom: User, commit: Commit
    ) -> None:
        bad = new_user(
            "abe", email="a\nb@example.org", email_confirmed_at=timezone.now()
        )
        follow(bad, mail=True)
        follow(tom, mail=True)
        commit(3)

        sent = send_due_mails(now=timezone.now())

        assert (sent.mails, sent.refused) == (1, 1)

    def test_goes_to_no_unconfirmed_address(self, tom: User, commit: Commit) -> None:
        follow(tom, mail=True)
        User.objects.filter(id=tom.id).update(email_confirmed_at=None)
        commit(3)

        send_due_mails(now=timezone.now())

        assert mail.outbox == []

    def test_is_tried_again_if_the_relay_refuses(
        self, tom: User, commit: Commit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        follow(tom, mail=True)
        commit(3)
        now = timezone.now()
        with monkeypatch.context() as refusing:
            refusing.setattr(mail.EmailMessage, "send", _refuse)
            assert send_due_mails(now=now).refused == 1
        assert send_due_mails(now=now).mails == 0

        assert send_due_mails(now=now + timedelta(minutes=6)).mails == 1

    @pytest.mark.parametrize(
        ("often", "now", "due"),
        [
            ("daily", "2026-11-24T06:59Z", "2026-11-24T07:00Z"),
            ("daily", "2026-11-24T07:00Z", "2026-11-25T07:00Z"),
            ("weekly", "2026-11-24T10:00Z", "2026-11-30T07:00Z"),
            ("weekly", "2026-11-30T06:00Z", "2026-11-30T07:00Z"),
            ("daily", "2026-07-01T07:00Z", "2026-07-02T06:00Z"),
        ],
    )
    def test_comes_in_the_morning_of_the_person(
        self, often: str, now: str, due: str
    ) -> None:
        user = new_user("ida", time_zone="Europe/Berlin")
        one = Follow(user=user, often=often)

        assert mail_due_at(one, datetime.fromisoformat(now)) == datetime.fromisoformat(
            due
        )


def _refuse(*_: object) -> int:
    reason = "no relay"
    raise OSError(reason)


class TestTheFollowingPage:
    def test_opens_the_form_in_place_and_counts(
        self, tom: User, commit: Commit
    ) -> None:
        one = follow(tom)
        commit(3)
        commit(4, schema_changed=True, breaking=True)
        client = client_of(tom)

        page = client.get(f"/notifications/following/?change={one.id}")
        path = f"/notifications/following/{one.id}/count"
        chosen = {"kinds": "table.version", "breaking_only": "true"}
        counted = client.get(path, chosen)

        assert "With these choices: 2 notifications" in page.content.decode()
        assert "1 notification in" in counted.content.decode()

    def test_takes_an_unchecked_box_as_a_statement(self, tom: User) -> None:
        new_table("sales.orders")
        one = follow(tom, mail=True)

        form = {
            "kinds": ["table.version", "table.schema"],
            "mail": "false",
            "bell": ["false", "true"],
            "often": "daily",
        }
        client_of(tom).post(f"/notifications/following/{one.id}/change", form)

        one.refresh_from_db()
        assert set(one.kinds) == {"table.schema", "table.version"}
        assert (one.by_mail, one.by_bell, one.often) == (False, True, "daily")

    def test_refuses_choices_that_reach_nobody(self, tom: User) -> None:
        new_table("sales.orders")
        one = follow(tom)

        form = {"kinds": ["table.version"], "often": "once", "bell": "false"}
        path = f"/notifications/following/{one.id}/change"
        page = client_of(tom).post(path, form)

        assert page.status_code == 422
        assert "Choose at least one channel" in page.content.decode()

    def test_lets_nobody_change_what_others_follow(self, tom: User) -> None:
        new_table("sales.orders")
        one = follow(tom)

        page = signed_in("eve").post(f"/notifications/following/{one.id}/stop")

        assert page.status_code == 404
        assert Follow.objects.exists()

    def test_answers_alike_for_hidden_and_unknown_tables(self) -> None:
        new_table("sales.secret", is_private=True)
        client = signed_in("eve")

        answers = [
            client.post(
                "/api/v1/follows", {"name": name}, content_type="application/json"
            )
            for name in ("sales.secret", "sales.nothing")
        ]

        assert [one.status_code for one in answers] == [404, 404]
        errors = {one.json()["error"] for one in answers}
        assert len(errors) == 1

    def test_says_that_nothing_is_followed(self) -> None:
        page = signed_in().get("/notifications/following/").content.decode()

        assert "You follow nothing yet" in page
