"""What acts on a row says which row, so that a list of buttons can be told apart."""

from collections import Counter
from html.parser import HTMLParser

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.sharing.models import Share
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
    new_user,
)

pytestmark = pytest.mark.django_db


class RowButtons(HTMLParser):
    """Collects the names of the small buttons, which stand in rows."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self._open = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]):
        values = dict(attributes)
        if tag in {"a", "button"} and "dw-btn-s" in (values.get("class") or "").split():
            self._open = tag
            self.names.append(values.get("aria-label") or "")

    def handle_data(self, data: str) -> None:
        if self._open and not self.names[-1]:
            self.names[-1] = data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag == self._open:
            self._open = ""


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(new_user("ada", role=User.Role.ADMIN))
    return client


@pytest.fixture
def share() -> Share:
    share = new_share("retail")
    for name in ("crm.orders", "crm.people"):
        new_shared_table(share, name)
    for name in ("acme", "globex"):
        recipient = new_recipient(name)
        new_grant(share, recipient)
        for _ in range(2):
            new_token(recipient, expires_at=NOW.replace(year=2999))
    return share


@pytest.mark.usefixtures("share")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/shares/retail/", {"Edit crm.orders", "Revoke from acme"}),
        ("/recipients/acme/", set()),
        ("/shares/", set()),
        ("/recipients/", set()),
        ("/t/crm/orders/sharing", {"Add to other"}),
    ],
)
def test_names_of_row_buttons_are_unique(admin: Client, path: str, expected: set[str]):
    new_share("other")
    parser = RowButtons()

    parser.feed(admin.get(path).content.decode())

    repeated = [name for name, times in Counter(parser.names).items() if times > 1]
    assert repeated == []
    assert "" not in parser.names
    assert expected <= set(parser.names)


def test_the_wizard_names_the_table_of_each_button(admin: Client) -> None:
    for name in ("crm.orders", "crm.people"):
        new_table(name)
    admin.post("/shares/new?step=name", {"name": "retail", "action": "next"})
    parser = RowButtons()

    parser.feed(admin.get("/shares/new?step=tables").content.decode())

    assert {"Add crm.orders", "Add crm.people"} <= set(parser.names)
