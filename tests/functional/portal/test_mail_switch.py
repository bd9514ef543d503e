"""The provider confirms the contact of a recipient for signing in by e-mail."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.sharing.models import Recipient
from tests.functional import command_line
from tests.functional.portal.visitors import Visitor, text_of
from tests.support import cases
from tests.support.pages.factories import signed_in

ADDRESS = "data@acme.example"


@pytest.fixture
def confirmed(acme: Visitor) -> Visitor:
    """A recipient whose address was confirmed an hour ago."""
    since = timezone.now() - timedelta(hours=1)
    Recipient.objects.update(contact=ADDRESS, mail_sign_in_since=since)
    return acme


class TestTheSwitch:
    def test_confirms_the_contact(self, acme: Visitor) -> None:
        Recipient.objects.update(contact=ADDRESS)

        said = command_line.Ran(
            *("recipient", "mail-sign-in", "acme", "--address", ADDRESS)
        ).stdout

        assert f"acme can sign in by a link that is sent to {ADDRESS}." in said
        acme.recipient.refresh_from_db()
        assert acme.recipient.mail_sign_in_since is not None

    @cases(
        "sent",
        {"another": "old@acme.example", "none": "", "the case": "DATA@acme.example"},
    )
    def test_confirms_no_other_address(self, acme: Visitor, sent: str) -> None:
        Recipient.objects.update(contact=ADDRESS)

        refused = command_line.refusal(
            *("recipient", "mail-sign-in", "acme", "--address", sent)
        )

        assert "is not the contact of acme" in refused
        acme.recipient.refresh_from_db()
        assert acme.recipient.mail_sign_in_since is None

    def test_confirms_no_missing_contact(self, acme: Visitor) -> None:
        refused = command_line.refusal("recipient", "mail-sign-in", "acme")

        assert "is not the contact of acme" in refused
        assert acme.recipient.mail_sign_in_since is None

    @pytest.mark.usefixtures("confirmed")
    def test_ends_with_another_contact(self) -> None:
        root = signed_in("root", role="ADMIN")
        form = {"contact": "new@acme.example", "comment": "", "networks": ""}

        answer = root.post("/recipients/acme/settings", form, follow=True)

        assert "until you confirm the new contact" in text_of(answer)
        assert Recipient.objects.get().mail_sign_in_since is None
        actions = AuditEvent.objects.values_list("action", flat=True)
        assert "recipient.forbid_mail_sign_in" in actions

    @pytest.mark.usefixtures("confirmed")
    def test_stays_with_the_same_contact(self) -> None:
        root = signed_in("root", role="ADMIN")
        form = {"contact": f" {ADDRESS} ", "comment": "x", "networks": ""}

        root.post("/recipients/acme/settings", form)

        assert Recipient.objects.get().comment == "x"
        assert Recipient.objects.get().mail_sign_in_since is not None

    def test_is_on_the_settings_page_of_a_recipient_with_a_contact(
        self, acme: Visitor
    ) -> None:
        root, path = signed_in("root", role="ADMIN"), "/recipients/acme/mail-sign-in"
        assert "That needs a contact." in text_of(root.get("/recipients/acme/settings"))
        Recipient.objects.update(contact=ADDRESS)
        page = root.get("/recipients/acme/settings").content.decode()
        assert f'action="{path}"' in page
        assert f'name="address" value="{ADDRESS}"' in page

        root.post(path, {"address": ADDRESS})
        acme.recipient.refresh_from_db()
        assert acme.recipient.mail_sign_in_since is not None

        root.post(f"{path}-off")
        acme.recipient.refresh_from_db()
        assert acme.recipient.mail_sign_in_since is None

    def test_is_for_administrators(self, acme: Visitor) -> None:
        Recipient.objects.update(contact=ADDRESS)
        editor = signed_in("ed", role="EDITOR")

        answer = editor.post("/recipients/acme/mail-sign-in", {"address": ADDRESS})

        assert answer.status_code == 403
        acme.recipient.refresh_from_db()
        assert acme.recipient.mail_sign_in_since is None
