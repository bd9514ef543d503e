"""What a viewer sees of the server: no path of it, on no page, in no form of one.

Pages of older versions and of ranges of them are visited of one table in every run, of
all by `pytest -m exhaustive`.
"""

import re
import shutil
from collections.abc import Collection, Iterable
from html import unescape
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urldefrag, urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.models import Job
from tests.support import cases
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.pages.factories import new_user

pytestmark = pytest.mark.django_db
TELLING = {"v", "from", "to", "job"}
LINK = re.compile(r'\b(?:href|hx-get|data-drawer|src)="([^"#][^"]*)"')
MOST_PAGES = 500
STARTS = ("/", "/tables/", "/jobs/", "/search", "/me/", "/status")
TABLES = ("orders", "empty", "broken", "gone")
LEFT_OUT = ("/static/", "/sign-in/", "/sign-out/")


@pytest.fixture
def server(tmp_path: Path, lake: Path) -> Path:
    """A folder of the server with tables: a sound one, and three that are not."""
    root = tmp_path / "disk of the server" / "lake"
    tables = {}
    for name in TABLES:
        shutil.copytree(lake / "orders", root / name)
        tables[name] = new_indexed_table(name, root / name)
    for file in (root / "empty").glob("*=*/**/*.parquet"):
        file.unlink()
    commits = sorted((root / "broken" / "_delta_log").glob("*.json"))
    commits[-1].write_text("no json")
    shutil.rmtree(root / "gone")
    for name in ("broken", "gone"):
        index_table(tables[name])
    return root


class Walk:
    """Walks the pages that links lead to, and the other forms of each.

    One of many addresses that differ in their values alone is enough.

    Args:
        thorough: The tables of which it visits each page for what a query tells, too.

    Attributes:
        pages: What each address showed last.
        asked: The pages of tables that asked for work: the next visit shows its result.
    """

    def __init__(self, client: Client, thorough: Collection[str]) -> None:
        self.pages: dict[str, str] = {}
        self.asked: set[str] = set()
        self._client = client
        self._thorough = thorough
        self._seen: set[object] = set()
        self._known: set[str] = set()  # to look up the page of a link takes longest

    def go(self, waiting: list[str]) -> None:
        """Visit addresses, and whatever they lead to that was not seen before."""
        again = {*map(self._kind, waiting)}
        while waiting:
            assert len(self._seen) < MOST_PAGES
            address = waiting.pop(0)
            path = urlsplit(address).path
            kind = self._kind(address)
            if path.startswith(LEFT_OUT) or kind in self._seen - again:
                continue
            again.discard(kind)
            self._seen.add(kind)
            waiting += self._visit(address, path)

    def _visit(self, address: str, path: str) -> list[str]:
        """Show a page; return where it leads, and its other forms."""
        before = Job.objects.count()
        response = self._client.get(address)
        text = self.pages[address] = _text(response)
        if Job.objects.count() > before:
            self.asked.add(_page(path))
        if "text/html" not in response.headers.get("Content-Type", ""):
            return []
        links = (unescape(link) for link in LINK.findall(text))
        inside = (urldefrag(urljoin(address, link))[0] for link in links)
        found = dict.fromkeys(link for link in inside if link.startswith("/"))
        stem = path.rstrip("/")
        if stem and response.status_code == HTTPStatus.OK:
            found |= dict.fromkeys([f"{stem}.json", f"{stem}.csv"])
        new = [link for link in found if link not in self._known]
        self._known.update(new)
        return new

    def _kind(self, address: str) -> tuple[object, ...]:
        """Return what an address has in common with many: its page, form and table."""
        parts = urlsplit(address)
        try:
            match = resolve(parts.path)
        except Resolver404:
            return ()
        told = [match.kwargs.get(name) for name in ("fmt", "name", "namespace")]
        query = parse_qsl(parts.query, keep_blank_values=True)
        names = {name for name, _ in query} & TELLING
        if told[1] not in self._thorough:
            names &= {"job"}
        return (match.view_name, *told, *sorted(names))


def work() -> None:
    """Do what waits, as workers without Spark do."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        kind = kinds.all_kinds()[job.kind]
        if kind.queue == kinds.DEFAULT_QUEUE:
            kind.work(job_id=str(job.id))


def _page(path: str) -> str:
    """Return the page of a table that an address is a form or a part of."""
    return "/".join(path.split("/")[:5]).partition(".")[0]


def _text(response: Iterable[bytes]) -> str:
    return b"".join(response).decode(errors="replace")


@cases("thorough", {"one": ["broken"], "all": TABLES}, often=["one"])
def test_a_viewer_sees_no_path_of_the_server(client, server, thorough) -> None:
    client.force_login(new_user("vera"))
    walk = Walk(client, thorough)
    walk.go([*STARTS])
    work()
    results = [one for one in walk.pages if _page(urlsplit(one).path) in walk.asked]
    jobs = [one for one in walk.pages if one.startswith("/jobs/")]
    heads = [f"/t/default/{name}/" for name in TABLES]
    walk.go([*results, *jobs, *heads, *STARTS])

    shown = {address: unquote(unescape(text)) for address, text in walk.pages.items()}
    assert [page for page, text in shown.items() if server.parent.name in text] == []
    assert "gone does not exist" in shown["/t/default/gone/data.json"]
    assert "\N{HORIZONTAL ELLIPSIS}/orders" in shown["/tables.csv"]
    assert "/path/to/orders" in shown["/t/default/orders/use.json"]


def test_an_editor_sees_where_tables_lie(client: Client, server: Path) -> None:
    client.force_login(new_user("eve", role=User.Role.EDITOR))

    for page in ("/tables.csv", "/t/default/gone/", "/t/default/orders/use.json"):
        assert str(server) in unescape(_text(client.get(page)))
