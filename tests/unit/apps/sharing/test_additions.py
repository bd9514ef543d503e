"""What sharing adds to the search, for those who may know."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.tables.catalogue.search.page import search_csv, search_page
from tests.support.pages.factories import new_recipient, new_share, new_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return new_user("ada", role=User.Role.ADMIN)


@pytest.fixture(params=[User.Role.VIEWER, User.Role.EDITOR], ids=str)
def other(request: pytest.FixtureRequest) -> User:
    return new_user("other", role=request.param)


@pytest.fixture(autouse=True)
def _shared() -> None:
    new_share("retail", comment="Every order")
    new_share("stock")
    new_recipient("acme", contact="data@acme.example", comment="orders weekly")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("RETAIL", ["retail"]),
        ("order", ["retail", "acme"]),
        ("data@acme", ["acme"]),
        ("nothing", []),
    ],
)
def test_finds_names_comments_and_contacts(ada: User, text: str, names: list[str]):
    page = search_page(ada, q=text)

    assert [hit.name for found in page.others for hit in found.hits] == names
    assert page.count == len(names)


def test_nobody_else_finds_them(other: User) -> None:
    assert search_page(other, q="order").count == 0
    assert len(list(search_csv(other, q="order"))) == 1


def test_the_page_names_them_and_leads_to_them(ada: User, client: Client) -> None:
    client.force_login(ada)

    shown = client.get("/search", {"q": "order"}).content.decode()
    data = client.get("/search.json", {"q": "order", "kind": "recipient"}).json()

    assert 'href="/shares/retail/"' in shown
    assert 'placeholder="Search tables, columns, actions"' in shown
    assert (
        'versions, shares, recipients, access on request, writers, people, help pages"'
        in shown
    )
    assert (data["count"], data["shares"]) == (1, [])
    assert data["recipients"][0]["url"] == "/recipients/acme/"


def test_a_kind_that_is_not_for_the_user_is_unknown(other: User, client: Client):
    client.force_login(other)

    shown = client.get("/search").content.decode()

    assert client.get("/search", {"q": "o", "kind": "share"}).status_code == 400
    assert 'placeholder="Search tables, columns, actions"' in shown
