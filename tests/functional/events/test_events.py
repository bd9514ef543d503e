"""Scripts read events by a cursor: what they may see, once, in the order."""

from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from pytest_django.fixtures import Settings

from apps.accounts.models import User
from apps.notices.events import EventSubject, Happening, emit_all
from apps.notices.events.publisher import new_epoch, prune_events
from apps.notices.kinds.table_version import NEW_VERSION
from apps.notices.models import Event
from apps.tables.models import Table
from tests.support.pages.factories import (
    FAR_AHEAD,
    NOW,
    new_api_key,
    new_table,
    signed_in,
)
from tests.unit.apps.notices.events.test_emitting import version

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

URL = "/api/v1/events"


def commit(table: Table, *numbers: int, **fields: bool) -> None:
    """Let a table have new versions."""
    subject = EventSubject("table", str(table.id), table.full_name)
    with transaction.atomic():
        emit_all(
            [
                Happening(
                    kind=NEW_VERSION,
                    subject=subject,
                    data=version(number, **fields),
                    table_id=table.id,
                )
                for number in numbers
            ],
            now=NOW,
        )


def read(client: Client, **query: str | int) -> dict[str, Any]:
    answer = client.get(URL, query)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def versions(page: dict[str, Any]) -> list[int]:
    return [event["data"]["version"] for event in page["events"]]


class TestReading:
    def test_returns_events_as_cloud_events(
        self, viewer: Client, settings: Settings
    ) -> None:
        settings.PUBLIC_URL = "https://tables.example"
        commit(new_table("orders", namespace="sales"), 3)

        (event,) = read(viewer)["events"]

        assert event == {
            "specversion": "1.0",
            "id": str(Event.objects.get().uid),
            "source": "https://tables.example",
            "type": "deltaweb.table.version",
            "subject": "table:sales.orders",
            "time": NOW.isoformat(),
            "datacontenttype": "application/json",
            "sentence": "sales.orders has version 3: WRITE, 2 rows added.",
            "data": {
                "table": "sales.orders",
                "version": 3,
                "operation": "WRITE",
                "committed_at": NOW.isoformat(),
                "rows_added": 2,
                "rows_removed": None,
                "files_added": 1,
                "files_removed": 0,
                "schema_changed": False,
                "breaking": False,
                "log_replaced": False,
            },
        }

    def test_goes_on_after_the_cursor(self, viewer: Client) -> None:
        table = new_table()
        commit(table, 1, 2, 3)
        first = read(viewer, limit=2)
        second = read(viewer, after=first["next"])
        commit(table, 4)

        assert versions(first) == [1, 2]
        assert versions(second) == [3]
        assert versions(read(viewer, after=second["next"])) == [4]

    def test_of_the_same_page_has_the_same_bytes(self, viewer: Client) -> None:
        table = new_table()
        commit(table, 1, 2, 3)
        before = viewer.get(URL, {"limit": 2}).content
        Table.objects.update(name="renamed")
        commit(table, 4)

        assert viewer.get(URL, {"limit": 2}).content == before

    def test_from_now_on_returns_only_what_comes(self, viewer: Client) -> None:
        table = new_table()
        commit(table, 1)
        begin = read(viewer, after="now")
        commit(table, 2)

        assert begin["events"] == []
        assert versions(read(viewer, after=begin["next"])) == [2]

    def test_waits_for_an_event_no_longer_than_it_is_told(self, viewer: Client) -> None:
        found = read(viewer, after="now", wait_s=1)

        assert found["events"] == []
        assert read(viewer, after=found["next"]) == found

    def test_by_table_and_by_kind(self, viewer: Client) -> None:
        commit(new_table("orders"), 1)
        commit(new_table("parts", namespace="sales"), 2)

        assert versions(read(viewer, table="orders")) == [1]
        assert versions(read(viewer, table="sales.parts")) == [2]
        assert versions(read(viewer, kind="table.version")) == [1, 2]
        both = {"kind": ["table.schema", "table.version"]}
        assert versions(viewer.get(URL, both).json()) == [1, 2]
        assert versions(read(viewer, kind="table.schema")) == []

    def test_moves_the_cursor_past_what_it_does_not_want(self, viewer: Client) -> None:
        """A rare kind is read by a cursor that does not get old."""
        commit(new_table(), 1, 2)
        found = read(viewer, kind="table.schema")
        prune_events(before=FAR_AHEAD)

        assert read(viewer, kind="table.schema", after=found["next"])["events"] == []

    @pytest.mark.parametrize(
        ("query", "status"),
        [
            ({"after": "3"}, 400),
            ({"after": "x" * 100}, 400),
            ({"kind": "table.versions"}, 400),
            ({"limit": "0"}, 400),
            ({"limit": "1001"}, 400),
            ({"wait_s": "31"}, 400),
            ({"begin": "now"}, 400),
            ({"table": "unknown"}, 404),
        ],
    )
    def test_refuses_what_it_cannot_read(
        self, viewer: Client, query: dict[str, str], status: int
    ) -> None:
        assert viewer.get(URL, query).status_code == status


class TestACursor:
    def test_of_removed_events_is_gone_and_says_where_to_begin(
        self, viewer: Client
    ) -> None:
        table = new_table()
        commit(table, 1)
        old = read(viewer, limit=1)["next"]
        commit(table, 2, 3)
        prune_events(before=FAR_AHEAD)
        commit(table, 4)

        answer = viewer.get(URL, {"after": old})

        assert answer.status_code == 410
        assert answer.json()["error"] == "cursor-gone"
        assert versions(read(viewer, after=answer.json()["begin"])) == [4]

    def test_of_before_a_restore_begins_again_with_what_it_has_not_seen(
        self, viewer: Client
    ) -> None:
        table = new_table()
        commit(table, 1, 2, 3)
        slow, fast = read(viewer, limit=1)["next"], read(viewer)["next"]
        Event.objects.filter(number=3).delete()  # of after the backup
        new_epoch()
        commit(table, 3, 4)

        answers = [viewer.get(URL, {"after": cursor}) for cursor in (slow, fast)]

        assert [answer.status_code for answer in answers] == [410, 410]
        slow, fast = (answer.json()["begin"] for answer in answers)
        assert versions(read(viewer, after=slow)) == [2, 3, 4]
        assert versions(read(viewer, after=fast)) == [3, 4]

    def test_of_another_server_begins_with_the_oldest_event(
        self, viewer: Client
    ) -> None:
        commit(new_table(), 1)
        answer = viewer.get(URL, {"after": "0123abcd-9"})

        assert answer.status_code == 410
        assert versions(read(viewer, after=answer.json()["begin"])) == [1]

    def test_of_the_future_is_gone(self, viewer: Client) -> None:
        commit(new_table(), 1)
        epoch = read(viewer)["next"].partition("-")[0]

        assert viewer.get(URL, {"after": f"{epoch}-99"}).status_code == 410


class TestAReader:
    def test_sees_no_event_of_a_table_that_it_may_not_see(self, viewer: Client) -> None:
        admin = signed_in("ada", role=User.Role.ADMIN)
        hidden = new_table("hidden", is_private=True)
        commit(hidden, 1)
        commit(new_table("open"), 2)

        assert versions(read(viewer)) == [2]
        assert versions(read(admin)) == [1, 2]
        assert viewer.get(URL, {"table": "hidden"}).status_code == 404

    def test_gets_the_next_visible_event_however_many_are_hidden(
        self, viewer: Client
    ) -> None:
        commit(new_table("hidden", is_private=True), *range(50))
        commit(new_table("open"), 77)

        assert versions(read(viewer, limit=1)) == [77]

    def test_sees_what_was_hidden_only_from_then_on(self, viewer: Client) -> None:
        table = new_table("hidden", is_private=True)
        commit(table, 1)
        cursor = read(viewer)["next"]
        Table.objects.update(is_private=False)
        commit(table, 2)

        assert versions(read(viewer, after=cursor)) == [2]

    def test_sees_no_event_of_a_table_that_is_gone(self, viewer: Client) -> None:
        table = new_table()
        commit(table, 1)
        table.delete()

        assert read(viewer)["events"] == []

    def test_needs_an_account_that_is_active(self) -> None:
        user = User.objects.create(username="kim")
        key = new_api_key(user, ["read"])

        assert Client().get(URL).status_code == 401
        assert Client(headers=key).get(URL).status_code == 200
        user.is_active = False
        user.save()
        assert Client(headers=key).get(URL).status_code == 401


def test_an_unknown_table_and_a_hidden_one_have_the_same_answer(viewer: Client) -> None:
    new_table("secret", is_private=True)
    hidden, unknown = (
        viewer.get(URL, {"table": name}).json() for name in ("secret", "secrez")
    )

    assert hidden["message"] == "No table is named secret."
    assert unknown["message"] == "No table is named secrez."
    assert (hidden["error"], hidden["hint"]) == (unknown["error"], unknown["hint"])
