"""What a viewer sees of the server: no path of it, on no page, in no form of one."""

import re
import shutil
from collections.abc import Iterable, Iterator
from html import unescape
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urldefrag, urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve

from deltaweb.web.accounts.models import User
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.models import Job
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.pages.factories import new_user

pytestmark = pytest.mark.django_db
TELLING = {"v", "from", "to", "job"}
LINK = re.compile(r'\b(?:href|hx-get|data-drawer|src)="([^"#][^"]*)"')
MOST_PAGES = 500
LEFT_OUT = ("/static/", "/sign-in/", "/sign-out/")


@pytest.fixture
def server(tmp_path: Path, lake: Path) -> Path:
    """A folder of the server with tables: a sound one, and three that are not."""
    root = tmp_path / "disk of the server" / "lake"
    tables = {}
    for name in ("orders", "empty", "broken", "gone"):
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


def pages_of(client: Client) -> Iterator[tuple[str, str]]:
    """Walk the pages that links lead to, and the other forms of each.

    One of many addresses that differ in their values alone is enough.
    """
    seen: set[object] = set()
    waiting = ["/", "/tables/", "/jobs/", "/search", "/me/", "/status"]
    while waiting and len(seen) < MOST_PAGES:
        address = waiting.pop(0)
        path = urlsplit(address).path
        kind = _kind(address)
        if kind in seen or path.startswith(LEFT_OUT):
            continue
        seen.add(kind)
        response = client.get(address)
        text = _text(response)
        yield address, text
        if "text/html" in response.headers.get("Content-Type", ""):
            links = (unescape(link) for link in LINK.findall(text))
            inside = (urldefrag(urljoin(address, link))[0] for link in links)
            waiting += [link for link in inside if link.startswith("/")]
            stem = path.rstrip("/")
            if stem and response.status_code == HTTPStatus.OK:
                waiting += [f"{stem}.json", f"{stem}.csv"]


def work() -> None:
    """Do what waits, as workers without Spark do."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        kind = kinds.all_kinds()[job.kind]
        if kind.queue == kinds.DEFAULT_QUEUE:
            kind.work(job_id=str(job.id))


def _kind(address: str) -> tuple[object, ...]:
    """Return what an address has in common with many: its page, form and table."""
    parts = urlsplit(address)
    query = parse_qsl(parts.query, keep_blank_values=True)
    names = sorted({name for name, _ in query} & TELLING)
    try:
        match = resolve(parts.path)
    except Resolver404:
        return ()
    told = (match.kwargs.get(name) for name in ("fmt", "name", "namespace"))
    return (match.view_name, *told, *names)


def _text(response: Iterable[bytes]) -> str:
    return b"".join(response).decode(errors="replace")


def test_a_viewer_sees_no_path_of_the_server(client: Client, server: Path) -> None:
    client.force_login(new_user("vera"))
    pages: dict[str, str] = {}
    for _ in range(2):  # what the first walk asks for, the second shows
        pages |= dict(pages_of(client))
        work()

    shown = {address: unquote(unescape(text)) for address, text in pages.items()}
    assert [page for page, text in shown.items() if server.parent.name in text] == []
    assert "gone does not exist" in shown["/t/default/gone/data.json"]
    assert "\N{HORIZONTAL ELLIPSIS}/orders" in shown["/tables.csv"]
    assert "/path/to/orders" in shown["/t/default/orders/use.json"]


def test_an_editor_sees_where_tables_lie(client: Client, server: Path) -> None:
    client.force_login(new_user("eve", role=User.Role.EDITOR))

    for page in ("/tables.csv", "/t/default/gone/", "/t/default/orders/use.json"):
        assert str(server) in unescape(_text(client.get(page)))
