"""A page names unknown parameters of its address; every link of a page has a page."""

from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, ResolverMatch, resolve, reverse

from apps.accounts.models import User
from apps.pages.request.parameters import names_of
from apps.tables.extension.tabs import registered
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.factories import (
    NOW,
    new_grant,
    new_recipient,
    new_share,
    new_shared_table,
    new_token,
    new_user,
)

pytestmark = pytest.mark.django_db
TABLE = "/t/sales/orders"
NOT_KNOWN = "is not a parameter of this page"
MAX_VISITS = 1
SERVED_OTHERWISE = ("/static/", "/help/")  # by the server of files
FORMS = (".json", ".csv")
WITH_A_PAGE = {200, 202, 409}  # 202 and 409: a job still reads what it shows


@pytest.fixture
def admin(client: Client, lake: Path) -> Client:
    new_sample_table("sales.orders", lake / "orders")
    share = new_share("retail")
    new_shared_table(share, "crm.people")
    recipient = new_recipient("acme")
    new_grant(share, recipient)
    new_token(recipient, expires_at=NOW.replace(year=2999))
    client.force_login(new_user("ada", role=User.Role.ADMIN))
    return client


class Links(HTMLParser):
    """Collects what a page leads to, and what its parts ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]):
        del tag
        for name, value in attributes:
            if name in {"href", "hx-get"} and value:
                self.found.append(value)


def not_taken(match: ResolverMatch, query: str) -> set[str]:
    """Return the parameters of a link that its page does not take."""
    takes = getattr(match.func, "takes", None)
    return set() if takes is None else set(parse_qs(query)) - names_of(takes)


def test_every_link_has_a_page_that_takes_its_parameters(admin: Client) -> None:
    waiting, visits = ["/"], Counter[str]()
    faults: set[tuple[str, str]] = set()
    while waiting:
        address = waiting.pop()
        answer = admin.get(address)
        if answer.streaming or "text/html" not in answer.get("Content-Type", ""):
            continue
        links = Links()
        links.feed(answer.content.decode())
        for link in links.found:
            there = urlsplit(urljoin(address, link))
            if there.netloc or there.path.startswith(SERVED_OTHERWISE):
                continue
            try:
                match = resolve(there.path)
            except Resolver404:
                faults.add((there.path, f"no such page, from {address}"))
                continue
            if match.kwargs.get("namespace") == "crm":
                continue
            if unknown := not_taken(match, there.query):
                faults.add((match.view_name, f"{sorted(unknown)} from {address}"))
            visits[match.view_name] += 1
            if visits[match.view_name] <= MAX_VISITS:
                waiting.append(urljoin(address, link))

    assert faults == set()
    assert len(visits) > 60


def test_every_machine_form_that_a_tab_of_a_table_links_to_answers(admin) -> None:
    tabs = [tab.url_name for tab in registered()]
    followed = set[str]()
    faults: list[tuple[str, str, int]] = []
    for tab in tabs:
        address = reverse(tab, kwargs={"namespace": "sales", "name": "orders"})
        links = Links()
        links.feed(admin.get(address, follow=True).content.decode())
        forms = {link for link in links.found if urlsplit(link).path.endswith(FORMS)}
        assert any(urlsplit(link).path == f"{TABLE}.json" for link in forms), tab
        for link in sorted(forms - followed):
            status = admin.get(urljoin(address, link)).status_code
            if status not in WITH_A_PAGE:
                faults.append((address, link, status))
        followed |= forms

    assert faults == []
    assert len(tabs) > 8


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("vversion=2", "<code>vversion</code> is not a parameter of this page"),
        ("sortt=id&v=2", '<a href="?v=2&amp;sort=id"><code>sort</code></a>?'),
        ("wild=1", 'so it is ignored. <a href="">Remove it</a>'),
    ],
)
def test_a_page_says_what_it_does_not_take(admin: Client, query: str, said: str):
    page = admin.get(f"{TABLE}/data?{query}").content.decode()

    assert said.replace('href="', f'href="{TABLE}/data') in page


@pytest.mark.parametrize("query", ["v=2", "utm_source=mail", "fbclid=x&v=2"])
def test_what_is_taken_or_of_others_is_not_said(admin: Client, query: str) -> None:
    page = admin.get(f"{TABLE}/data?{query}").content.decode()

    assert NOT_KNOWN not in page


@pytest.mark.parametrize("suffix", ["", ".json", ".csv"])
def test_a_version_by_its_whole_name_is_that_version(admin: Client, suffix: str):
    answer = admin.get(f"{TABLE}/schema{suffix}?version=1&q=id")

    assert answer.status_code == 302
    assert answer["Location"] == f"{TABLE}/schema{suffix}?q=id&v=1"


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_a_machine_form_refuses_what_it_does_not_take(admin: Client, suffix: str):
    answer = admin.get(f"{TABLE}/history{suffix}?usr=ada", headers={"Accept": "*/*"})

    assert answer.status_code == 400
    body = answer.json()
    assert body["error"] == "unknown-parameter"
    assert body["message"] == "'usr' is not a known parameter."
    assert body["hint"] == "Did you mean 'user'?"


def test_a_restored_version_keeps_its_own_name(admin: Client) -> None:
    answer = admin.get(f"{TABLE}/restore?version=1")

    assert answer.status_code == 200
    assert NOT_KNOWN not in answer.content.decode()
