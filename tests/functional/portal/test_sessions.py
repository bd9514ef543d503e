"""Who comes in to the page of a recipient, and for how long."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as site
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.audit.models import AuditEvent
from apps.sharing.access import browser
from apps.sharing.models import BrowserSession, Grant, Recipient, RecipientToken, Share
from tests.functional.portal.conftest import NewVisitor
from tests.functional.portal.visitors import OWN, Visitor, path_of, text_of
from tests.functional.sharing_api.ruled import Ruled
from tests.support import cases
from tests.support.pages.factories import new_share, new_shared_table, signed_in

HOUR = timedelta(hours=1)


def is_in(visitor: Visitor) -> bool:
    """Whether the page shows tables, and no way to sign in."""
    answer = visitor.get()
    if answer.status_code == 302:
        assert answer.url.startswith("/portal/sign-in")
    return bool(answer.status_code == 200)


class TestSigningIn:
    def test_opens_the_page_by_the_token(self, acme: Visitor) -> None:
        assert acme.get().url == "/portal/sign-in?ended=session-ended"

        answer = acme.sign_in()

        assert (answer.status_code, answer.url) == (302, "/portal/")
        assert "hr. staff" in text_of(acme.get())

    def test_takes_the_text_of_a_profile(self, acme: Visitor) -> None:
        profile = json.dumps({"shareCredentialsVersion": 1, "bearerToken": acme.secret})

        assert acme.sign_in(profile).url == "/portal/"

    @cases(
        "token",
        {
            "nothing": "",
            "another": "dwt_00000000nothing",
            "no profile": "{",
            "a profile of numbers": '{"bearerToken": 7}',
            "a list": '["a"]',
            "a NUL": "dwt_\0",
        },
    )
    def test_refuses_what_is_no_token(self, acme: Visitor, token: str) -> None:
        answer = acme.sign_in(token)

        assert answer.status_code == 401
        assert "This bearer token is not known here." in text_of(answer)
        assert acme.cookie == ""

    def test_has_a_cookie_of_its_own_below_its_path(self, acme: Visitor) -> None:
        answer = acme.sign_in()

        (name,) = answer.cookies
        cookie = answer.cookies[name]
        assert name == site.RECIPIENT_COOKIE_NAME != site.SESSION_COOKIE_NAME
        assert (cookie["path"], cookie["httponly"]) == ("/portal/", True)
        assert (cookie["samesite"], cookie["domain"]) == ("Lax", "")
        assert cookie["max-age"] <= 8 * 3600

    def test_keeps_a_hash_of_the_secret_alone(self, acme: Visitor) -> None:
        acme.sign_in()

        kept = str(list(BrowserSession.objects.values()))
        assert acme.cookie not in kept
        assert acme.secret not in kept

    def test_takes_over_no_session_that_the_browser_was_given(
        self, acme: Visitor, staff: Ruled, new_visitor: NewVisitor
    ) -> None:
        other = new_visitor("evil", staff.shared.share)
        other.sign_in()
        planted = other.cookie
        acme.client.cookies[site.RECIPIENT_COOKIE_NAME] = planted

        acme.sign_in()

        assert acme.cookie != planted
        assert not is_in(other)
        assert is_in(acme)

    def test_refuses_too_many_attempts(self, acme: Visitor) -> None:
        statuses = {acme.sign_in("dwt_no").status_code for _ in range(30)}

        assert statuses == {401, 429}
        assert acme.sign_in().status_code == 429

    @cases(
        "headers",
        {
            "another site": {"Sec-Fetch-Site": "cross-site"},
            "a sibling": {"Sec-Fetch-Site": "same-site"},
            "another origin": {"Origin": "https://evil.example"},
            "a hidden origin": {"Origin": "null"},
            "nothing": {"X-Nothing": "1"},
        },
    )
    def test_takes_no_form_of_another_page(
        self, acme: Visitor, headers: dict[str, str]
    ) -> None:
        answer = acme.client.post(
            "/portal/sign-in", {"token": acme.secret}, headers=headers
        )

        assert answer.status_code == 403
        assert acme.cookie == ""

    def test_takes_the_form_of_an_old_browser(self, acme: Visitor) -> None:
        origin = {"Origin": "http://testserver"}

        assert acme.sign_in(**origin).url == "/portal/"


class TestTheSwitches:
    def test_nothing_is_there_until_the_server_has_it_on(
        self, acme: Visitor, settings: Settings
    ) -> None:
        acme.sign_in()
        settings.BROWSER_READING = False

        for path in ("/portal/", "/portal/sign-in", "/portal/t/People/hr/staff"):
            assert acme.get(path).status_code == 404
        assert acme.sign_in().status_code == 404

    def test_a_recipient_comes_in_once_a_share_is_open(self, acme: Visitor) -> None:
        Share.objects.update(in_browser=False)
        answer = acme.sign_in()
        assert answer.status_code == 403
        assert "open in the browser" in text_of(answer)

        Share.objects.update(in_browser=True)
        assert acme.sign_in().url == "/portal/"

    def test_an_open_recipient_reads_all_its_shares(self, acme: Visitor) -> None:
        Share.objects.update(in_browser=False)
        Recipient.objects.update(in_browser=True)

        acme.sign_in()

        assert is_in(acme)

    def test_a_share_that_is_not_open_is_not_there(
        self, acme: Visitor, staff: Ruled
    ) -> None:
        closed = new_shared_table(
            new_share("Closed"), "hr.pay", table=staff.shared.table
        )
        Grant.objects.create(
            share=closed.share, recipient=acme.recipient, granted_at=timezone.now()
        )
        acme.sign_in()

        assert "hr. pay" not in text_of(acme.get())
        assert acme.get(path_of(closed)).status_code == 404


class TestTheEnd:
    @cases(
        "end",
        {
            "the token is revoked": lambda: RecipientToken.objects.update(
                revoked_at=timezone.now()
            ),
            "the token retires": lambda: RecipientToken.objects.update(
                retires_at=timezone.now()
            ),
            "the token expires": lambda: RecipientToken.objects.update(
                expires_at=timezone.now()
            ),
            "the grant ends": lambda: Grant.objects.all().delete(),
            "the share is off": lambda: Share.objects.update(off_since=timezone.now()),
            "the share is closed": lambda: Share.objects.update(in_browser=False),
            "eight hours are over": lambda: BrowserSession.objects.update(
                open_until=timezone.now()
            ),
            "the recipient is gone": lambda: Recipient.objects.all().delete(),
        },
    )
    def test_comes_at_once(self, acme: Visitor, end: Any) -> None:  # noqa: ANN401 (a change)
        acme.sign_in()
        assert is_in(acme)

        end()

        assert not is_in(acme)

    def test_is_final(self, acme: Visitor) -> None:
        acme.sign_in()
        secret = acme.cookie
        Share.objects.update(off_since=timezone.now())
        assert not is_in(acme)
        Share.objects.update(off_since=None)

        # As a header: Python 3.13 refuses to write some of these as a cookie.
        header = f"{site.RECIPIENT_COOKIE_NAME}={secret}"
        acme.client.defaults["HTTP_COOKIE"] = header

        assert not is_in(acme)

    def test_is_after_eight_hours_or_with_the_token(
        self, acme: Visitor, new_visitor: NewVisitor, staff: Ruled
    ) -> None:
        acme.sign_in()
        length = acme.session.open_until - acme.session.opened_at
        assert length == browser.MAX_LENGTH == 8 * HOUR

        other = new_visitor("other", staff.shared.share)
        RecipientToken.objects.filter(id=other.token.id).update(
            expires_at=timezone.now() + HOUR
        )
        other.sign_in()
        assert other.session.open_until <= timezone.now() + HOUR

    def test_is_asked_for_by_a_button(self, acme: Visitor) -> None:
        acme.sign_in()
        secret = acme.cookie

        assert acme.post("/portal/sign-out").url == "/portal/sign-in"

        acme.client.cookies[site.RECIPIENT_COOKIE_NAME] = secret
        assert not is_in(acme)

    def test_looking_lengthens_nothing(self, acme: Visitor) -> None:
        acme.sign_in()
        before = acme.session.open_until

        acme.get()

        assert acme.session.open_until == before


class TestNetworks:
    def test_hold_for_each_request(self, acme: Visitor) -> None:
        acme.sign_in()
        Recipient.objects.update(allowed_networks=["10.1.0.0/16"])

        answer = acme.get()
        assert answer.status_code == 403
        assert "127.0.0.1 is not allowed here" in text_of(answer)
        assert acme.get(REMOTE_ADDR="10.1.2.3").status_code == 200

    def test_hold_for_signing_in(self, acme: Visitor) -> None:
        Recipient.objects.update(allowed_networks=["10.1.0.0/16"])

        assert acme.sign_in().status_code == 403
        assert not BrowserSession.objects.exists()


class TestTwoKindsOfSessions:
    def test_a_persons_session_is_nothing_here(self, staff: Ruled) -> None:
        del staff
        admin = signed_in("root", role="ADMIN")

        assert admin.get("/portal/")["Location"].startswith("/portal/sign-in")
        name = site.RECIPIENT_COOKIE_NAME
        admin.cookies[name] = admin.cookies[site.SESSION_COOKIE_NAME].value
        assert admin.get("/portal/")["Location"].startswith("/portal/sign-in")

    def test_a_recipients_session_is_nothing_elsewhere(self, acme: Visitor) -> None:
        acme.sign_in()
        for name in (site.RECIPIENT_COOKIE_NAME, site.SESSION_COOKIE_NAME):
            stranger = Client()
            stranger.cookies[name] = acme.cookie
            assert stranger.get("/shares/")["Location"].startswith("/sign-in")
            assert stranger.get("/api/v1/tables").status_code == 401

    def test_both_may_be_in_one_browser(self, acme: Visitor) -> None:
        acme.client = signed_in("root", role="ADMIN")
        acme.sign_in()

        page = acme.get()
        assert "Signed in as acme" in text_of(page)
        assert "root" not in text_of(page)
        assert set(page.cookies) == set()
        assert acme.get("/shares/").status_code == 200
        acme.post("/portal/sign-out")
        assert acme.get("/shares/").status_code == 200

    def test_a_key_is_nothing_here(self, acme: Visitor) -> None:
        answer = acme.get(headers={"Authorization": f"Bearer {acme.secret}"})

        assert answer.url.startswith("/portal/sign-in")


class TestForms:
    @cases(
        "sent", {"nothing": {}, "another": {"form": "0" * 64}, "no text": {"form": "é"}}
    )
    def test_need_the_token_of_the_session(
        self, acme: Visitor, sent: dict[str, str]
    ) -> None:
        acme.sign_in()

        answer = acme.client.post("/portal/sign-out", sent, headers=OWN)

        assert answer.status_code == 403
        assert is_in(acme)

    def test_take_no_token_of_another_session(
        self, acme: Visitor, staff: Ruled, new_visitor: NewVisitor
    ) -> None:
        other = new_visitor("other", staff.shared.share)
        other.sign_in()
        acme.sign_in()
        sent = {"form": other.form_token()}

        answer = acme.client.post("/portal/sign-out", sent, headers=OWN)

        assert answer.status_code == 403

    def test_are_of_this_page(self, acme: Visitor) -> None:
        acme.sign_in()
        sent = {"form": acme.form_token()}
        cross = {"Sec-Fetch-Site": "cross-site"}

        answer = acme.client.post("/portal/sign-out", sent, headers=cross)

        assert answer.status_code == 403
        assert is_in(acme)

    def test_are_not_sent_by_a_link(self, acme: Visitor) -> None:
        acme.sign_in()

        assert acme.get("/portal/sign-out").status_code == 405
        assert is_in(acme)


class TestAnswers:
    def test_are_kept_by_no_cache_and_no_index(self, acme: Visitor) -> None:
        acme.sign_in()

        for path in ("/portal/", "/portal/sign-in", "/portal/t/a/b/c"):
            answer = acme.get(path)
            assert answer["Cache-Control"] == "no-store"
            assert answer["X-Robots-Tag"] == "noindex, nofollow"
            assert answer["Referrer-Policy"] == "same-origin"

    def test_are_recorded_as_calls_of_the_recipient(self, acme: Visitor) -> None:
        acme.sign_in("dwt_no")
        acme.sign_in()
        acme.get()

        found = AuditEvent.objects.order_by("at").values_list(
            "kind", "action", "recipient", "status"
        )
        assert list(found) == [
            ("CALL", "portal.sign_in", "", 401),
            ("CALL", "portal.sign_in", "acme", 200),
            ("CALL", "portal.tables", "acme", 200),
        ]

    @pytest.mark.parametrize("secret", ["", "x", "x" * 43, "é" * 43, "a\0" * 20])
    def test_to_made_up_sessions_lead_to_the_sign_in(
        self, acme: Visitor, secret: str
    ) -> None:
        # As a header: Python 3.13 refuses to write some of these as a cookie.
        header = f"{site.RECIPIENT_COOKIE_NAME}={secret}"
        acme.client.defaults["HTTP_COOKIE"] = header

        assert not is_in(acme)

    def test_name_the_provider_and_no_link(
        self, acme: Visitor, settings: Settings
    ) -> None:
        acme.sign_in()
        pages = ["/portal/", "/portal/sign-in", "/portal/t/a/b/c", "/portal/rotate"]

        for path in pages:
            text = text_of(acme.get(path))
            assert "this link" not in text
            assert "sk the provider" in text
        settings.PROVIDER_CONTACT = "help@northwind.example"
        assert "help@northwind.example" in text_of(acme.get(pages[2]))

    def test_lead_to_the_manual(self, acme: Visitor) -> None:
        page = acme.get("/portal/sign-in").content.decode()

        assert "/help/how-to/share-in-the-browser/#for-recipients" in page


class TestThePreviousVisit:
    def test_is_of_an_hour_ago_at_least(self, acme: Visitor) -> None:
        acme.sign_in()
        assert acme.session.previous_visit_at is None
        before = timezone.now() - 3 * HOUR
        BrowserSession.objects.update(opened_at=before, seen_at=before)

        acme.sign_in()
        first = acme.session
        assert first.previous_visit_at == before

        acme.sign_in()  # the same visit goes on
        assert acme.session.id != first.id
        assert acme.session.previous_visit_at == before
