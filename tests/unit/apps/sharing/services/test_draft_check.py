"""Would this share be made? Every fault at once, and nothing left behind."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor
from apps.sharing.models import Recipient, Share
from apps.sharing.services.draft_check import DraftFaults, check_draft
from apps.sharing.services.share_drafts import (
    RecipientDraft,
    ShareDraft,
    TableDraft,
)
from tests.factories import new_metadata, new_recipient, new_share, new_table

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ADA = Actor(name="ada")


def check(draft: ShareDraft) -> DraftFaults:
    return check_draft(draft, actor=ADA, now=NOW)


def test_a_draft_that_would_be_made_has_no_fault_and_leaves_nothing() -> None:
    table = new_table("crm.orders")
    new_recipient("globex")
    draft = ShareDraft(
        name="retail",
        tables=(TableDraft(table_id=table.id, schema="crm", name="orders"),),
        recipient_names=("GLOBEX",),
    )

    assert check(draft).is_empty
    assert not Share.objects.exists()
    assert not AuditEvent.objects.exists()


def test_every_fault_is_told_at_once() -> None:
    new_share("retail")
    table = new_table("crm.orders")
    new_metadata(table)
    wanted = [
        TableDraft(table_id=table.id, schema="crm", name="orders"),
        TableDraft(table_id=table.id, schema="crm", name="ORDERS"),
        TableDraft(table_id=uuid4(), schema="crm", name="gone"),
        TableDraft(table_id=table.id, schema="a.b", name="c"),
        TableDraft(table_id=table.id, schema="crm", name="d", start_version=99),
        TableDraft(table_id=table.id, schema="crm", name="e", partition_filter="x = 1"),
    ]

    new_recipient("globex")
    readers = [
        RecipientDraft(name="initech", lifetime="30d"),
        RecipientDraft(name="INITECH", lifetime="30d"),
        RecipientDraft(name="Globex", lifetime="30d"),
        RecipientDraft(name="umbrella", contact="nowhere", lifetime="30d"),
        RecipientDraft(name="hooli", lifetime="soon"),
    ]

    faults = check(
        ShareDraft(
            name="Retail",
            tables=tuple(wanted),
            recipient_names=("nobody",),
            new_recipients=tuple(readers),
        )
    )

    assert faults.share is not None
    assert faults.share.code == "name-taken"
    assert {place: error.code for place, error in faults.tables.items()} == {
        1: "name-taken",
        2: "table-not-registered",
        3: "name-invalid",
        4: "start-version-invalid",
        5: "partition-filter-invalid",
    }
    assert faults.missing_recipients == ["nobody"]
    assert {place: error.code for place, error in faults.new_recipients.items()} == {
        1: "name-taken",
        2: "name-taken",
        3: "contact-invalid",
        4: "lifetime-invalid",
    }
    assert [recipient.name for recipient in Recipient.objects.all()] == ["globex"]
    assert [share.name for share in Share.objects.all()] == ["retail"]
