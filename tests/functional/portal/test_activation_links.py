"""The activation link opens the page of a recipient: by a button, and once."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as site
from django.test import Client
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from apps.sharing.issuing import tokens
from apps.sharing.models import (
    ActivationLink,
    BrowserSession,
    Recipient,
    RecipientToken,
    Share,
)
from tests.functional.portal.visitors import text_of
from tests.functional.sharing_api.ruled import Ruled
from tests.support import cases
from tests.support.pages.factories import new_grant, new_recipient, new_token

OPEN = {"open": "1"}


@pytest.fixture
def path(staff: Ruled) -> str:
    """The address of the link of a new token."""
    recipient = new_recipient("globex")
    new_grant(staff.shared.share, recipient)
    token, _ = new_token(
        recipient,
        token_sha256=None,
        activated_at=None,
        expires_at=timezone.now() + timedelta(days=90),
    )
    url = tokens.issue_link(token, stamp=command_stamp()).link
    return f"/activate/{url.rpartition('/')[2]}"


def opened(path: str, client: Client | None = None, site: str = "same-origin") -> Any:  # noqa: ANN401 (of a client)
    headers = {"Sec-Fetch-Site": site}
    return (client or Client()).post(path, OPEN, headers=headers)


class TestTheLink:
    def test_opens_the_page_by_its_button(self, path: str) -> None:
        browser = Client()
        assert "Open in the browser" in text_of(browser.get(path))

        answer = opened(path, browser)

        assert answer.url == "/portal/"
        page = text_of(browser.get("/portal/"))
        assert "Signed in as globex" in page
        assert "hr. staff" in page
        assert BrowserSession.objects.get().opened_by == "LINK"

    def test_opens_nothing_by_being_looked_at(self, path: str) -> None:
        browser = Client()

        browser.get(f"{path}?open=1")
        browser.head(path)

        assert site.RECIPIENT_COOKIE_NAME not in browser.cookies
        assert not BrowserSession.objects.exists()

    def test_opens_one_session(self, path: str) -> None:
        opened(path)

        answer = opened(path)

        assert answer.status_code == 410
        assert BrowserSession.objects.count() == 1

    @cases("first", {"the session": "open", "the profile": "profile"})
    def test_serves_for_the_session_and_the_profile(
        self, path: str, first: str
    ) -> None:
        browser = Client()
        steps = [lambda: opened(path, browser), lambda: browser.post(path)]

        for step in steps if first == "open" else reversed(steps):
            assert step().status_code in {200, 302}

        assert browser.get("/portal/").status_code == 200
        assert opened(path).status_code == 410
        assert Client().post(path).status_code == 410

    def test_that_was_used_for_the_profile_still_offers_the_button(
        self, path: str
    ) -> None:
        Client().post(path)

        text = text_of(Client().get(path))

        assert "This link has been used" in text
        assert "Open in the browser" in text

    @cases(
        "end",
        {
            "revoked": lambda: RecipientToken.objects.update(revoked_at=timezone.now()),
            "expired": lambda: ActivationLink.objects.update(expires_at=timezone.now()),
            "withdrawn": lambda: ActivationLink.objects.update(
                withdrawn_at=timezone.now()
            ),
            "handed out otherwise": lambda: RecipientToken.objects.update(
                activated_at=timezone.now()
            ),
        },
    )
    def test_opens_nothing_once_it_has_ended(self, path: str, end: Any) -> None:  # noqa: ANN401 (a change)
        end()

        assert opened(path).status_code == 410
        assert not BrowserSession.objects.exists()
        assert "Open in the browser" not in text_of(Client().get(path))

    def test_is_not_spent_where_nothing_is_open(self, path: str) -> None:
        Share.objects.update(in_browser=False)
        assert "Open in the browser" not in text_of(Client().get(path))
        assert opened(path).status_code == 403

        Share.objects.update(in_browser=True)
        assert opened(path).status_code == 302

    def test_is_not_spent_from_another_network(self, path: str) -> None:
        Recipient.objects.update(allowed_networks=["10.1.0.0/16"])
        assert opened(path).status_code == 403
        refused = text_of(Client().get(path))
        assert "No access from this network" in refused
        assert "Open in the browser" not in refused

        Recipient.objects.update(allowed_networks=[])
        assert opened(path).status_code == 302

    def test_takes_no_form_of_another_site(self, path: str) -> None:
        assert opened(path, site="cross-site").status_code == 403
        assert not BrowserSession.objects.exists()

    def test_is_recorded(self, path: str) -> None:
        opened(path)
        opened(path)

        found = AuditEvent.objects.filter(action="activation.open").order_by("at")
        assert list(found.values_list("recipient", "status")) == [
            ("globex", 200),
            ("globex", 410),
        ]

    def test_ends_with_its_token(self, path: str) -> None:
        browser = Client()
        opened(path, browser)
        RecipientToken.objects.update(revoked_at=timezone.now())

        answer = browser.get("/portal/")

        assert answer.status_code == 302
        assert answer["Location"].startswith("/portal/sign-in")
