import pytest

from apps.audit.models import AuditEvent
from apps.pages.actions import Actor, Stamp
from apps.pages.changes.change import Nothing
from apps.sharing import errors
from apps.sharing.models import Grant, Recipient, RecipientToken
from apps.sharing.recipients import services as recipients
from apps.sharing.recipients.changes.settings import DELETE, UPDATE, RecipientChange
from apps.sharing.recipients.services import NewRecipient
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_token,
)

pytestmark = pytest.mark.django_db
WHO = Actor(name="ada")
STAMP = Stamp(WHO, NOW)


class TestCreateRecipient:
    def test_stores_the_allow_list_in_one_spelling(self) -> None:
        new = NewRecipient(
            name="Acme",
            contact=" data@acme.example ",
            allowed_networks=["192.0.2.7", "2001:DB8::/32"],
        )
        recipient = recipients.create_recipient(new, stamp=STAMP)

        assert recipient.allowed_networks == ["192.0.2.7/32", "2001:db8::/32"]
        assert recipient.contact == "data@acme.example"
        event = AuditEvent.objects.get()
        assert (event.action, event.recipient) == ("recipient.create", "Acme")
        assert event.recipient_id == recipient.id

    @cases(
        "new, error",
        {
            "taken": (NewRecipient(name="ACME"), errors.NameTakenError),
            "a bad name": (NewRecipient(name="a b"), errors.NameInvalidError),
            "no mail address": (
                NewRecipient(name="new", contact="nobody"),
                errors.ContactInvalidError,
            ),
            "no network": (
                NewRecipient(name="new", allowed_networks=["10.0.0.1/8"]),
                errors.NetworkInvalidError,
            ),
        },
    )
    def test_refuses(self, new: NewRecipient, error: type[Exception]) -> None:
        new_recipient("acme")

        with pytest.raises(error):
            recipients.create_recipient(new, stamp=STAMP)

        assert Recipient.objects.count() == 1
        assert not AuditEvent.objects.exists()


class TestUpdateRecipient:
    def test_records_each_fact_that_changed_once(self) -> None:
        recipient = new_recipient()
        for _ in range(2):
            new = RecipientChange(
                contact="", comment="Ours", allowed_networks=["10.0.0.0/8"]
            )
            UPDATE.carry_out(recipient, new, STAMP)

        events = AuditEvent.objects.order_by("id").values_list("action", "detail")
        assert list(events) == [
            ("recipient.describe", {"old": "", "new": "Ours"}),
            ("recipient.set_networks", {"old": [], "new": ["10.0.0.0/8"]}),
        ]
        assert Recipient.objects.get().allowed_networks == ["10.0.0.0/8"]


class TestDeleteRecipient:
    def test_takes_tokens_and_grants_along(self) -> None:
        recipient = new_recipient()
        new_grant(new_share(), recipient)
        new_token(recipient)

        DELETE.carry_out(recipient, Nothing(), STAMP)

        assert not RecipientToken.objects.exists()
        assert not Grant.objects.exists()
        detail = AuditEvent.objects.get().detail
        assert detail == {"shares": ["sales"], "num_tokens_ended": 1}


class TestGrants:
    def test_granting_twice_keeps_the_first_grant(self) -> None:
        share, recipient = new_share(), new_recipient()

        first = recipients.grant(share, recipient, stamp=STAMP)

        assert recipients.grant(share, recipient, stamp=STAMP) == first
        event = AuditEvent.objects.get()
        assert (event.action, event.share, event.recipient) == (
            "grant.add",
            "sales",
            "acme",
        )

    def test_taking_says_whether_there_was_one(self) -> None:
        share, recipient = new_share(), new_recipient()
        new_grant(share, recipient)

        assert recipients.ungrant(share, recipient, stamp=STAMP)
        assert not recipients.ungrant(share, recipient, stamp=STAMP)
        assert AuditEvent.objects.get().action == "grant.remove"
