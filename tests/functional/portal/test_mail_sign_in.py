"""Signing in by e-mail: one answer for every address, and a link that opens once."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from django.core import mail, signing
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.pages.actions import command_stamp
from apps.pages.request.rate_limits import RateLimit
from apps.sharing.issuing.tokens import rotate
from apps.sharing.models import BrowserSession, Recipient, RecipientToken, Share
from apps.sharing.portal import mail_sign_in
from apps.sharing.portal.mail_sign_in import SEND_LINKS
from tests.functional.portal.conftest import NewVisitor
from tests.functional.portal.visitors import OWN, Answer, Visitor, text_of
from tests.functional.sharing_api.ruled import Ruled
from tests.support import cases
from tests.support.pages.operated import worked

ADDRESS = "data@acme.example"
HOUR = timedelta(hours=1)
SENT = "If this address can sign in, a mail with a link is on its way."


@pytest.fixture(autouse=True)
def _relay(settings: Settings) -> None:
    settings.EMAIL_HOST = "localhost"
    settings.PUBLIC_URL = "https://data.example"


@pytest.fixture
def confirmed(acme: Visitor) -> Visitor:
    """A recipient whose address was confirmed an hour ago."""
    since = timezone.now() - HOUR
    Recipient.objects.update(contact=ADDRESS, mail_sign_in_since=since)
    return acme


def ask(address: str = ADDRESS, client: Client | None = None, **extra: Any) -> Answer:  # noqa: ANN401 (of a client)
    """Send the form that takes an address."""
    browser = client or Client(raise_request_exception=False)
    form = {"address": address}
    return browser.post("/portal/sign-in/by-mail", form, headers=OWN, **extra)


def send() -> list[EmailMessage]:
    """Do the jobs that send mail, and return what is in the box."""
    for job in Job.objects.active().filter(kind=SEND_LINKS):
        worked(job)
    return mail.outbox


def link() -> str:
    """Request a mail, and return the path of its link."""
    ask()
    *_, found = send()
    urls = re.findall(r"https?://\S+", str(found.body))
    assert len(urls) == 1
    return unquote(urlsplit(urls[0]).path)


def opened(path: str, client: Client | None = None) -> Answer:
    """Press the button of a link."""
    browser = client or Client(raise_request_exception=False)
    return browser.post(path, headers=OWN)


class TestAnAddress:
    def test_gets_one_mail_with_one_link(self, confirmed: Visitor) -> None:
        answer = ask()

        assert answer.url == "/portal/sign-in?ended=mail-sent"
        assert SENT in text_of(confirmed.get(answer.url))
        (found,) = send()
        assert found.to == [ADDRESS]
        assert str(found.body).count("https://data.example/portal/sign-in/") == 1

    @pytest.mark.usefixtures("confirmed")
    def test_has_one_answer_whether_or_not_it_is_known(self) -> None:
        answers = [ask(one) for one in (ADDRESS, "nobody@else.example")]

        assert {(one.status_code, one.url, one.content) for one in answers} == {
            (302, "/portal/sign-in?ended=mail-sent", b"")
        }
        assert Job.objects.filter(kind=SEND_LINKS).count() == 2
        assert [found.to for found in send()] == [[ADDRESS]]

    @pytest.mark.usefixtures("confirmed")
    def test_is_never_the_one_that_was_typed(self) -> None:
        ask("DATA@Acme.Example")

        (found,) = send()
        assert found.to == [ADDRESS]

    @cases(
        "text",
        {
            "nothing": "",
            "no address": "acme",
            "two": f"{ADDRESS},evil@example.com",
            "another header": f"{ADDRESS}\nBcc: evil@example.com",
            "an encoded header": f"{ADDRESS}%0aBcc:evil@example.com ",
            "an unending one": "x" * 100_000 + "@example.com",
        },
    )
    @pytest.mark.usefixtures("confirmed")
    def test_must_be_one(self, text: str) -> None:
        answer = ask(text)

        assert answer.status_code == 400
        assert "This is not an e-mail address." in text_of(answer)
        assert not Job.objects.filter(kind=SEND_LINKS).exists()

    @pytest.mark.usefixtures("confirmed")
    def test_is_kept_by_no_job_and_no_record(self) -> None:
        ask("nobody@else.example")
        send()

        job = Job.objects.get(kind=SEND_LINKS)
        assert "nobody" not in f"{job.parameters}{job.title}{job.log}"
        assert not AuditEvent.objects.exists()

    @cases(
        "change",
        {
            "not confirmed": {"mail_sign_in_since": None},
            "another contact": {"contact": "new@acme.example"},
            "no contact": {"contact": ""},
        },
    )
    @pytest.mark.usefixtures("confirmed")
    def test_gets_nothing_if(self, change: dict[str, Any]) -> None:
        Recipient.objects.update(**change)

        assert ask().status_code == 302
        assert send() == []

    @cases(
        "end",
        {
            "revoked": {"revoked_at": timezone.now() - HOUR},
            "expired": {"expires_at": timezone.now() - HOUR},
            "retiring": {"retires_at": timezone.now() + HOUR},
        },
    )
    @pytest.mark.usefixtures("confirmed")
    def test_gets_nothing_if_the_token_is(self, end: dict[str, Any]) -> None:
        RecipientToken.objects.update(**end)

        ask()

        assert send() == []

    @pytest.mark.usefixtures("confirmed")
    def test_gets_nothing_if_nothing_is_open(self) -> None:
        Share.objects.update(in_browser=False)

        ask()

        assert send() == []

    @pytest.mark.usefixtures("confirmed")
    def test_gets_three_mails_an_hour_with_the_same_answer(self) -> None:
        urls = []
        for number in range(5):
            urls.append(ask(REMOTE_ADDR=f"203.0.{number}.7").url)
            send()

        assert len(set(urls)) == 1
        assert len(mail.outbox) == 3

    @pytest.mark.usefixtures("confirmed")
    def test_in_another_spelling_has_no_mails_of_its_own(self) -> None:
        for number, name in enumerate(("data", "DATA", "Data", "dAta", "daTA")):
            ask(f"{name}@acme.example", REMOTE_ADDR=f"203.0.{number}.7")
            send()

        assert len(mail.outbox) == 3

    @pytest.mark.usefixtures("confirmed")
    def test_is_tried_by_a_network_ten_times(self) -> None:
        statuses = [ask(f"a{number}@example.com").status_code for number in range(12)]

        assert statuses == [302] * 10 + [429] * 2

    @pytest.mark.usefixtures("confirmed")
    def test_is_not_tried_by_a_form_of_another_site(self) -> None:
        answer = Client(raise_request_exception=False).post(
            "/portal/sign-in/by-mail",
            {"address": ADDRESS},
            headers={"Sec-Fetch-Site": "cross-site"},
        )

        assert answer.status_code == 403
        assert not Job.objects.filter(kind=SEND_LINKS).exists()

    def test_has_no_field_without_a_relay(
        self, confirmed: Visitor, settings: Settings
    ) -> None:
        assert "Send the link" in text_of(confirmed.get("/portal/sign-in"))
        settings.EMAIL_HOST = ""

        assert "Send the link" not in text_of(confirmed.get("/portal/sign-in"))
        assert ask().status_code == 404

    def test_of_several_recipients_gets_a_link_for_each(
        self, confirmed: Visitor, staff: Ruled, new_visitor: NewVisitor
    ) -> None:
        since = confirmed.recipient.created_at
        new_visitor(
            "beta", staff.shared.share, contact=ADDRESS, mail_sign_in_since=since
        )

        ask()

        names = [re.findall(r"sign in as (\w+)", str(one.body))[0] for one in send()]
        assert names == ["acme", "beta"]


class TestALink:
    @pytest.mark.usefixtures("confirmed")
    def test_opens_one_session_by_its_button(self) -> None:
        browser, path = Client(), link()
        page = browser.get(path)
        assert "Sign in as acme" in text_of(page)
        assert page["Referrer-Policy"] == "strict-origin"
        assert page["Cache-Control"] == "no-store"
        assert not BrowserSession.objects.exists()

        answer = opened(path, browser)

        assert answer.url == "/portal/"
        assert "Signed in as acme" in text_of(browser.get("/portal/"))
        assert BrowserSession.objects.get().opened_by == "MAIL"
        again = opened(path)
        assert again.status_code == 410
        assert "has expired or was used" in text_of(again)
        assert 'href="/portal/sign-in">To the sign-in' in again.content.decode()
        assert BrowserSession.objects.count() == 1

    @pytest.mark.usefixtures("confirmed")
    def test_leads_to_the_public_address_whatever_the_host(self) -> None:
        ask(HTTP_HOST="evil.example")
        ask(HTTP_X_FORWARDED_HOST="evil.example")

        for found in send():
            assert "evil" not in f"{found.body}{found.subject}"
            assert "https://data.example/portal/sign-in/" in str(found.body)

    @pytest.mark.usefixtures("confirmed")
    def test_has_the_prefix_of_the_public_address(self, settings: Settings) -> None:
        settings.PUBLIC_URL = "https://data.example/lake"  # as a worker has it
        ask()

        (found,) = send()

        assert str(found.body).count("https://data.example/lake/portal/sign-in/") == 1

    @pytest.mark.usefixtures("confirmed")
    def test_lets_browsers_say_where_its_form_is_from(self) -> None:
        # With `no-referrer`, Chromium sends `Origin: null`, and without HTTPS no other
        # header.
        path = link()

        assert Client().get(path)["Referrer-Policy"] == "strict-origin"
        own = {"Origin": "http://testserver"}
        assert Client().post(path, headers=own).status_code == 302

    @cases(
        "end",
        {
            "switched off": lambda: Recipient.objects.update(mail_sign_in_since=None),
            "switched off and on": lambda: Recipient.objects.update(
                mail_sign_in_since=timezone.now()
            ),
            "revoked": lambda: RecipientToken.objects.update(revoked_at=timezone.now()),
            "expired": lambda: RecipientToken.objects.update(expires_at=timezone.now()),
            "rotated": lambda: rotate(
                Recipient.objects.get(),
                lifetime=HOUR,
                keep_old=HOUR,
                stamp=command_stamp(),
            ),
            "deleted": lambda: RecipientToken.objects.all().delete(),
        },
    )
    @pytest.mark.usefixtures("confirmed")
    def test_opens_nothing_once_it_is(self, end: Callable[[], object]) -> None:
        path = link()
        end()

        assert Client().get(path).status_code == 410
        assert opened(path).status_code == 410
        assert not BrowserSession.objects.exists()

    @pytest.mark.usefixtures("confirmed")
    def test_opens_nothing_after_15_minutes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = link()
        late = timezone.now() + timedelta(minutes=15, seconds=1)
        monkeypatch.setattr(timezone, "now", lambda: late)

        assert Client().get(path).status_code == 410
        assert opened(path).status_code == 410
        assert not BrowserSession.objects.exists()

    @pytest.mark.usefixtures("confirmed")
    def test_is_not_spent_where_it_is_refused(self) -> None:
        path = link()
        Recipient.objects.update(allowed_networks=["10.1.0.0/16"])
        assert opened(path).status_code == 403
        Recipient.objects.update(allowed_networks=[])
        cross = Client().post(path, headers={"Sec-Fetch-Site": "cross-site"})
        assert cross.status_code == 403

        assert opened(path).status_code == 302

    @cases(
        "forged",
        {
            "nothing": "x",
            "much": "x" * 5_000,
            "another salt": signing.dumps(["a", "b", "", 9e9], salt="other"),
            "NUL": "a%00b",
        },
    )
    @pytest.mark.usefixtures("confirmed")
    def test_is_signed(self, forged: str) -> None:
        assert Client().get(f"/portal/sign-in/{forged}").status_code == 410
        assert opened(f"/portal/sign-in/{forged}").status_code == 410
        assert not AuditEvent.objects.exists()

    @pytest.mark.usefixtures("confirmed")
    def test_with_another_letter_opens_nothing(self) -> None:
        path = link()
        place = len("/portal/sign-in/") + 5
        other = "A" if path[place] != "A" else "B"

        answer = opened(f"{path[:place]}{other}{path[place + 1 :]}")

        assert answer.status_code == 410

    def test_takes_over_no_session_that_the_browser_was_given(
        self, confirmed: Visitor
    ) -> None:
        confirmed.sign_in()
        before = confirmed.cookie

        opened(link(), confirmed.client)

        assert confirmed.cookie != before
        assert BrowserSession.objects.filter(ended_at=None).count() == 1

    @pytest.mark.usefixtures("confirmed")
    def test_is_recorded_without_its_secret(self) -> None:
        path = link()
        opened(path)
        opened(path)

        found = AuditEvent.objects.order_by("id")
        assert list(found.values_list("action", "recipient", "status")) == [
            ("portal.send_link", "acme", 200),
            ("portal.sign_in", "acme", 200),
            ("portal.sign_in", "acme", 410),
        ]
        secret = path.rpartition("/")[2]
        for event in found:
            assert secret[:20] not in str(vars(event))
        job = Job.objects.get(kind=SEND_LINKS)
        assert secret[:20] not in f"{job.parameters}{job.result}{job.log}"


class TestASession:
    @cases(
        "end",
        {
            "switched off": lambda: Recipient.objects.update(mail_sign_in_since=None),
            "confirmed again": lambda: Recipient.objects.update(
                mail_sign_in_since=timezone.now()
            ),
            "revoked": lambda: RecipientToken.objects.update(revoked_at=timezone.now()),
        },
    )
    @pytest.mark.usefixtures("confirmed")
    def test_by_a_link_ends_once_it_is(self, end: Callable[[], object]) -> None:
        browser = Client()
        opened(link(), browser)
        end()

        assert browser.get("/portal/").status_code == 302
        assert BrowserSession.objects.get().ended_at is not None

    def test_by_a_token_goes_on_without_mail(self, confirmed: Visitor) -> None:
        confirmed.sign_in()
        Recipient.objects.update(mail_sign_in_since=None)

        assert confirmed.get().status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("confirmed")
def test_of_two_uses_at_once_one_succeeds() -> None:
    path = link()

    def use(_: int) -> int:
        try:
            return int(opened(path).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(use, range(8)))

    assert statuses == [302] + [410] * 7
    assert BrowserSession.objects.count() == 1


@pytest.mark.usefixtures("confirmed")
def test_a_flood_of_many_networks_sends_no_mail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    none_left = RateLimit(file="rates-none", rate_per_s=0.001, burst=0)
    monkeypatch.setattr(mail_sign_in, "OF_SERVER", none_left)

    assert ask().status_code == 302
    assert send() == []
