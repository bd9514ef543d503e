from uuid import uuid4

import pytest
from django.db import transaction

from apps.audit.models import AuditEvent
from apps.audit.services import record, record_action
from apps.pages.actions import Action, Actor, Stamp, report
from tests.support.pages.factories import NOW

pytestmark = pytest.mark.django_db
WHO = Actor(name="ada", user_id=7, address="192.0.2.1", user_agent="Firefox")
STAMP = Stamp(WHO, NOW)


class TestRecordAction:
    def test_keeps_who_what_and_how_it_went(self) -> None:
        recipient_id, token_id, table_id = uuid4(), uuid4(), uuid4()
        record_action(
            Action(
                name="token.revoke",
                stamp=STAMP,
                share="sales",
                recipient="acme",
                recipient_id=recipient_id,
                token_id=token_id,
                token_prefix="dwt_0123",
                table="crm.orders",
                table_id=table_id,
                detail={"why": "lost"},
                status=409,
                error_code="token-state",
            )
        )

        event = AuditEvent.objects.get()
        assert event.kind == AuditEvent.Kind.CHANGE
        assert (event.at, event.action) == (NOW, "token.revoke")
        assert (event.actor, event.actor_id) == ("ada", 7)
        assert (event.address, event.user_agent) == ("192.0.2.1", "Firefox")
        assert (event.share, event.table, event.table_id) == (
            "sales",
            "crm.orders",
            table_id,
        )
        assert (event.recipient, event.recipient_id) == ("acme", recipient_id)
        assert (event.token_id, event.token_prefix) == (token_id, "dwt_0123")
        assert (event.status, event.error_code) == (409, "token-state")
        assert event.detail == {"why": "lost"}

    def test_is_told_of_every_report_once(self) -> None:
        report(Action(name="share.create", stamp=STAMP))

        assert AuditEvent.objects.get().action == "share.create"

    def test_a_change_that_is_undone_leaves_no_record(self) -> None:
        with transaction.atomic():
            report(Action(name="share.create", stamp=STAMP))
            transaction.set_rollback(True)

        assert not AuditEvent.objects.exists()


class TestRecord:
    def test_adds_a_call(self) -> None:
        record(AuditEvent(at=NOW, kind=AuditEvent.Kind.CALL, action="table.query"))

        assert AuditEvent.objects.get().kind == AuditEvent.Kind.CALL
