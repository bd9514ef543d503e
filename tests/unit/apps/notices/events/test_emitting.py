from uuid import UUID

import pytest
from django.db import transaction

from apps.notices.events import EventSubject, emit
from apps.notices.events.emitting import NoTransactionError
from apps.notices.kinds.table_version import NEW_VERSION, NewVersion
from apps.notices.models import Event
from tests.support.pages.factories import NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]

ORDERS = EventSubject("table", "1", "sales.orders")


def version(number: int, **fields: bool) -> NewVersion:
    return NewVersion(
        table="sales.orders",
        version=number,
        operation="WRITE",
        committed_at=NOW.isoformat(),
        rows_added=2,
        rows_removed=None,
        files_added=1,
        files_removed=0,
        schema_changed=fields.get("schema_changed", False),
        breaking=fields.get("breaking", False),
    )


def test_an_event_has_a_number_once_the_transaction_has_committed() -> None:
    with transaction.atomic():
        emit(NEW_VERSION, ORDERS, version(3), now=NOW)
        unseen = Event.objects.get().number

    event = Event.objects.get()
    assert unseen is None
    assert event.number == 1
    assert event.kind == "table.version"
    assert event.payload["version"] == 3


def test_an_event_of_a_change_that_fails_never_happened() -> None:
    with transaction.atomic():
        emit(NEW_VERSION, ORDERS, version(3), now=NOW)
        transaction.set_rollback(True)

    assert not Event.objects.exists()


def test_equal_keys_are_one_event() -> None:
    for _ in range(2):
        with transaction.atomic():
            emit(NEW_VERSION, ORDERS, version(3), now=NOW, key="1:3")
    with transaction.atomic():
        emit(NEW_VERSION, ORDERS, version(4), now=NOW, key="1:4")

    found = Event.objects.order_by("number")
    assert [event.payload["version"] for event in found] == [3, 4]


def test_an_event_needs_a_transaction() -> None:
    with pytest.raises(NoTransactionError):
        emit(NEW_VERSION, ORDERS, version(3), now=NOW)


def test_an_event_of_a_table_has_the_id_of_its_key_also_after_a_restore() -> None:
    table_id, ids = UUID(int=7), []
    for key in ("7:3", "7:3", "7:4"):
        with transaction.atomic():
            emit(NEW_VERSION, ORDERS, version(3), now=NOW, table_id=table_id, key=key)
        ids.append(Event.objects.get().uid)
        Event.objects.all().delete()

    assert ids[0] == ids[1] != ids[2]
