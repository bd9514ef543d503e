from collections.abc import Iterator
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.append_only import (
    NAMES,
    REFUSAL,
    create_triggers,
    drop_triggers,
)
from apps.audit.models import AppendOnlyError, AuditEvent
from tests.support import cases
from tests.support.pages.factories import NOW, new_call

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def _triggers() -> Iterator[None]:
    """The triggers, which are gone where a test's data is emptied by DELETE."""
    if connection.vendor != "sqlite":
        yield
        return
    create_triggers(connection)
    yield
    drop_triggers(connection)


class TestTheCode:
    def test_adds_an_event_with_what_it_is_about(self) -> None:
        event = new_call(at=NOW, detail={"hints": 2})

        assert AuditEvent.objects.get().detail == {"hints": 2}
        assert str(event) == "table.query 2026-11-21 12:00:00"

    def test_saves_it_once(self) -> None:
        event = new_call()
        event.action = "nothing"

        with pytest.raises(AppendOnlyError, match="append-only"):
            event.save()

        assert AuditEvent.objects.get().action == "table.query"

    def test_an_event_with_the_id_of_another_does_not_replace_it(self) -> None:
        old = new_call()

        with pytest.raises(DatabaseError), transaction.atomic():
            AuditEvent(
                id=old.id, at=NOW, kind=AuditEvent.Kind.CALL, action="nothing"
            ).save()

        assert AuditEvent.objects.get().action == "table.query"

    def test_neither_changes_nor_deletes(self) -> None:
        event = new_call()

        with pytest.raises(AppendOnlyError):
            event.delete()
        with pytest.raises(AppendOnlyError):
            AuditEvent.objects.filter(id=event.id).update(action="nothing")
        with pytest.raises(AppendOnlyError):
            AuditEvent.objects.all().delete()
        with pytest.raises(AppendOnlyError), transaction.atomic():
            AuditEvent.objects.bulk_update([event], ["action"])

        assert AuditEvent.objects.get().action == "table.query"


@pytest.mark.usefixtures("_triggers")
class TestTheDatabase:
    @cases(
        "statement",
        {
            "update": "UPDATE audit_auditevent SET status = 200",
            "delete": "DELETE FROM audit_auditevent",
            "delete some": "DELETE FROM audit_auditevent WHERE status = 404",
        },
    )
    def test_refuses_whoever_sends_it(self, statement: str) -> None:
        new_call(status=404)

        with (
            pytest.raises(DatabaseError, match=REFUSAL),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)

        assert AuditEvent.objects.get().status == 404

    def test_refuses_a_replacement(self) -> None:
        event = new_call(status=404)
        if connection.vendor != "sqlite":
            pytest.skip("REPLACE is SQLite's own")

        with (
            pytest.raises(DatabaseError, match=REFUSAL),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(
                "INSERT OR REPLACE INTO audit_auditevent SELECT * FROM audit_auditevent"
            )

        assert AuditEvent.objects.get() == event

    def test_still_takes_new_events(self) -> None:
        new_call()
        new_call()

        assert AuditEvent.objects.count() == 2


class TestTheMigration:
    def test_makes_both_triggers_and_takes_them_back(self) -> None:
        if connection.vendor != "sqlite":
            pytest.skip("PostgreSQL keeps its triggers in another catalogue")
        with connection.cursor() as cursor:
            create_triggers(connection)
            names = _trigger_names(cursor)
            drop_triggers(connection)
            left = _trigger_names(cursor)

        assert names >= set(NAMES.values())
        assert not left & set(NAMES.values())


def _trigger_names(cursor: Any) -> set[str]:  # noqa: ANN401 (Django's cursor)
    cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    return {name for (name,) in cursor.fetchall()}
