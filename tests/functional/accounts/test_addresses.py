"""Users have an e-mail address, which a mailed link confirms."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import Settings

from apps.accounts import errors, services
from apps.accounts.models import AddressLink, SignInLink, User
from apps.accounts.services import mailing
from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from tests.support.pages.factories import new_user, signed_in

pytestmark = pytest.mark.django_db
ADDRESS = "vera@northwind.example"


def send(asked: mailing.MailAsked) -> None:
    services.send_account_mail(asked, now=command_stamp().at)


@pytest.fixture(autouse=True)
def _mail_is_set_up(settings: Settings) -> None:
    settings.EMAIL_HOST = "localhost"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[EmailMessage]:
    """Mails are sent at once, as a worker would."""
    monkeypatch.setattr(mailing.queues, "_found", {"test": send})
    return mail.outbox


def link_in(message: EmailMessage) -> str:
    found = re.search(r"https?://[^/]+(/\S+)", str(message.body))
    assert found is not None
    return found[1]


class TestOnesOwnAddress:
    def test_is_confirmed_by_the_button_behind_the_link(
        self, sent: list[EmailMessage]
    ) -> None:
        vera = new_user()
        client = Client()
        client.force_login(vera)
        client.post("/me/email", {"email": f" {ADDRESS} "})
        vera.refresh_from_db()
        assert (vera.email, vera.mail_address) == (ADDRESS, "")
        assert sent[0].to == [ADDRESS]
        path = link_in(sent[0])

        shown = Client().get(path)
        vera.refresh_from_db()
        assert "Confirm" in shown.content.decode()
        assert "no-store" in shown["Cache-Control"]
        assert vera.mail_address == ""  # filters open links

        assert Client().post(path).status_code == 200
        vera.refresh_from_db()
        assert vera.mail_address == ADDRESS
        assert Client().post(path).status_code == 410
        assert "_auth_user_id" not in Client().session
        names = set(AuditEvent.objects.values_list("action", flat=True))
        assert {"user.set_email", "user.confirm_email"} <= names

    @pytest.mark.usefixtures("sent")
    def test_another_address_is_not_confirmed_by_an_earlier_link(
        self, sent: list[EmailMessage]
    ) -> None:
        client = signed_in()
        client.post("/me/email", {"email": ADDRESS})
        client.post("/me/email", {"email": "other@northwind.example"})
        client.post("/me/email", {"email": ADDRESS})

        answers = [Client().post(link_in(one)).status_code for one in sent]

        assert answers == [410, 410, 200]

    def test_a_link_ends_after_a_day(self, sent: list[EmailMessage]) -> None:
        signed_in().post("/me/email", {"email": ADDRESS})
        AddressLink.objects.update(expires_at=command_stamp().at - timedelta(seconds=1))

        assert Client().get(link_in(sent[0])).status_code == 410

    def test_is_refused_if_it_is_no_address(self, sent: list[EmailMessage]) -> None:
        page = signed_in().post("/me/email", {"email": "vera@localhost\nBcc: x@y.zz"})

        assert page.status_code == 422
        assert "is not an e-mail address" in page.content.decode()
        assert not sent

    def test_may_be_that_of_another_account(self, sent: list[EmailMessage]) -> None:
        new_user("ada", email=ADDRESS)

        assert signed_in().post("/me/email", {"email": ADDRESS}).status_code == 302
        assert len(sent) == 1

    def test_does_not_let_anybody_flood_a_mailbox(
        self, sent: list[EmailMessage]
    ) -> None:
        client = signed_in()
        client.post("/me/email", {"email": ADDRESS})
        for _ in range(6):
            client.post("/me/email/send")

        page = client.post("/me/email/send")

        assert page.status_code == 429
        assert len(sent) == 5

    def test_is_not_changed_by_a_key_without_the_scope(self) -> None:
        vera = new_user()
        issued = services.issue_api_key(user=vera, name="x", stamp=command_stamp())
        bearer = {"Authorization": f"Bearer {issued.secret}"}

        answer = Client(headers=bearer).put(
            "/api/v1/me/email", {"email": ADDRESS}, content_type="application/json"
        )

        assert answer.status_code == 403

    def test_is_in_the_json_of_the_account(self, sent: list[EmailMessage]) -> None:
        client = signed_in()
        client.post("/me/email", {"email": ADDRESS})
        assert client.get("/me.json").json()["email_confirmed"] is False
        Client().post(link_in(sent[0]))

        data = client.get("/me.json").json()

        assert (data["email"], data["email_confirmed"]) == (ADDRESS, True)


class TestAMailedSignInLink:
    def test_invites_a_new_user_and_confirms_the_address(
        self, sent: list[EmailMessage]
    ) -> None:
        admin = signed_in(role=User.Role.ADMIN)
        form = {"name": "new", "role": "viewer", "email": ADDRESS}
        page = admin.post("/admin-area/users", form, follow=True)
        assert "dw-secret" not in page.content.decode()
        client = Client()

        assert client.post(link_in(sent[0])).status_code == 302

        new = User.objects.get(username="new")
        assert new.mail_address == ADDRESS
        assert client.session["_auth_user_id"] == str(new.id)

    def test_goes_to_no_address_that_only_its_user_stated(
        self, sent: list[EmailMessage]
    ) -> None:
        vera = new_user(email=ADDRESS)

        with pytest.raises(errors.MailAddressMissingError):
            services.mail_sign_in(user=vera, stamp=command_stamp())
        assert not sent

    def test_is_worth_nothing_after_another_address_was_set(
        self, sent: list[EmailMessage]
    ) -> None:
        vera = new_user()
        services.mail_sign_in(user=vera, address=ADDRESS, stamp=command_stamp())
        assert SignInLink.objects.filter(mailed_to=ADDRESS).exists()
        services.set_address(user=vera, address="", stamp=command_stamp())

        assert Client().post(link_in(sent[0])).status_code == 404

    def test_needs_a_relay(self, settings: Settings) -> None:
        settings.EMAIL_HOST = ""

        with pytest.raises(errors.MailNotSetUpError):
            services.mail_sign_in(
                user=new_user(), address=ADDRESS, stamp=command_stamp()
            )


def test_a_verified_claim_is_confirmed_at_once() -> None:
    vera = new_user()

    services.take_verified_address(user=vera, address=ADDRESS, stamp=command_stamp())

    vera.refresh_from_db()
    assert vera.mail_address == ADDRESS
    actions = AuditEvent.objects.values_list("action", flat=True)
    assert list(actions) == ["user.set_email"]


def test_a_mail_is_not_sent_to_an_address_that_changed_meanwhile() -> None:
    vera = new_user(email="new@northwind.example")
    asked = mailing.MailAsked(
        user_id=vera.id, purpose=mailing.CONFIRM, address=ADDRESS, asked_by="vera"
    )

    assert services.send_account_mail(asked, now=command_stamp().at) is False
    assert not mail.outbox
