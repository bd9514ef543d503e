"""A web process, asked as gunicorn asks it: what it may load, and how it answers.

It stands behind a proxy that strips a prefix, and in the end somebody else writes to
its database all the time: who asks to write then is answered soon.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from apps.pages.request.lock_waits import REQUEST_WAIT_MS
from tests.support.processes.installation import (
    ROOT,
    START_TIMEOUT_S,
    environment,
    manage,
    migrate,
    run_each,
)

# What gunicorn loads and asks, in a process whose modules can be looked at: what it has
# before it forks, the answers, and what it has then. The second half of the requests
# comes at once, while another writer holds the database.
ASK = """
import json
import os
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from urllib.parse import urlencode

from deltaweb.serving.wsgi import application
from django.db import connection, connections
from django.template import engines
from django.urls import get_resolver

def is_kept(name):
    try:
        return os.path.isfile(f"/proc/self/fd/{name}")
    except OSError:
        return False

(loader,) = engines["django"].engine.template_loaders[0].loaders
before = {
    "views": ["apps.jobs.views" in sys.modules, get_resolver()._populated],
    "templates": "jobs/status.html" in loader.get_template_cache,
    "libraries": {"plotly.graph_objs", "pyarrow.parquet"} <= set(sys.modules),
    "threads": len(threading.enumerate()),
    "connections": [one.connection for one in connections.all()],
    "files": sum(map(is_kept, os.listdir("/proc/self/fd"))),
}

def ask(name, path, form=None, accept="", cookie="", bearer=""):
    body = urlencode(form or {}).encode()
    told = {}
    def start_response(status, headers):
        cookies = [value for name, value in headers if name == "Set-Cookie"]
        told.update(
            status=int(status.split()[0]), headers=dict(headers), cookies=cookies
        )
    environ = {
        "REQUEST_METHOD": "POST" if form else "GET", "PATH_INFO": path,
        "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "8000", "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http", "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr, "CONTENT_LENGTH": str(len(body)),
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "HTTP_ACCEPT": accept, "HTTP_COOKIE": cookie,
    }
    if bearer:
        environ["HTTP_AUTHORIZATION"] = f"Bearer {bearer}"
    text = b"".join(application(environ, start_response)).decode()
    return {**told, "text": text}

free, locked = json.load(sys.stdin)
answers = {asked["name"]: ask(**asked) for asked in free}
if locked:
    path = f"{os.environ['DELTAWEB_HOME']}/deltaweb.sqlite3"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(len(locked)) as pool:  # each waits as long as it may
        told = pool.map(lambda asked: ask(**asked), locked)
        answers |= zip((asked["name"] for asked in locked), told)
loaded = {name.partition(".")[0] for name in sys.modules}
wait_ms = None
if connection.vendor == "sqlite":
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        (wait_ms,) = cursor.fetchone()
json.dump({
    "before": before, "answers": answers, "wait_ms": wait_ms,
    "unwanted": sorted(loaded & {"pyspark", "py4j", "pandas"}),
}, sys.stdout)
"""
PAGES = ("/", "/tables/", "/t/default/orders/", "/t/default/orders/data", "/jobs/")
PREFIXED = "https://data.example.org/lake"
CSRF = "a" * 32
COOKIE = f"deltaweb_csrf_lake={CSRF}"
FORM = {"csrfmiddlewaretoken": CSRF}


@dataclass(frozen=True)
class Told:
    """What a web process had before it answered, what it answered, and its errors."""

    before: dict[str, Any]
    answers: dict[str, dict[str, Any]]
    unwanted: list[str]
    wait_ms: int | None
    errors: str


def ask(
    home: Path,
    *asked: Mapping[str, Any],
    locked: Sequence[Mapping[str, Any]] = (),
    **variables: str,
) -> Told:
    """Ask a web process, and then of a database that somebody else writes to."""
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps([asked, locked]),
        env=environment(home, **variables),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=START_TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    return Told(**json.loads(done.stdout), errors=done.stderr)


@dataclass(frozen=True)
class Installed:
    """An installation, and what its commands have said.

    Attributes:
        key: Of an administrator.
        token: Of a recipient.
        link: Signs the administrator in.
        patience_ms: How long a command waits for the database.
    """

    home: Path
    key: str
    token: str
    link: str
    patience_ms: str


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    home = tmp_path_factory.mktemp("home")
    (home / "lake" / "orders" / "_delta_log").mkdir(parents=True)
    migrate(home)
    profile = home / "nightly.share"
    made = ("create", "nightly", "--share", "retail", "--profile", str(profile))
    *_, key, link = run_each(
        home,
        ("user", "add", "ada", "--role", "admin"),
        ("table", "scan", str(home / "lake")),
        ("share", "create", "retail"),
        ("recipient", *made),
        ("user", "key", "ada", "--json"),
        ("user", "link", "ada"),
        DELTAWEB_PUBLIC_URL=PREFIXED,
    )
    patience = (
        "from django.db import connection\n"
        "cursor = connection.cursor()\n"
        "print(cursor.execute('PRAGMA busy_timeout').fetchone()[0])"
    )
    waits = manage(home, "shell", "--no-imports", "--command", patience)
    return Installed(
        home,
        json.loads(key)["key"],
        json.loads(profile.read_text())["bearerToken"],
        link.strip(),
        waits.stdout.strip(),
    )


@pytest.fixture(scope="module")
def told(installed: Installed) -> Told:
    """What is asked, and then asked again of a database that somebody writes to."""
    as_ada = {"bearer": installed.key}
    sign_in = {"name": "ada", "password": "not hers", **FORM}
    delete = {"path": "/shares/retail/delete", "form": {"confirm": "retail"}, **as_ada}
    looks = {"theme": "DARK", "time_zone": "UTC"}
    appearance = {"path": "/me/appearance", "form": looks, **as_ada}
    shares = {"path": "/delta-sharing/shares", "bearer": installed.token}
    link = urlsplit(installed.link).path
    return ask(
        installed.home,
        *({"name": path, "path": path, **as_ada} for path in PAGES),
        {"name": "a stranger", "path": "/shares/"},
        {"name": "sign-in", "path": "/sign-in/"},
        {
            "name": "signed in",
            "path": urlsplit(installed.link).path.removeprefix("/lake"),
            "form": FORM,
            "cookie": COOKIE,
        },
        {"name": "a message", **appearance},
        locked=[
            {
                "name": "password",
                "path": "/sign-in/",
                "form": sign_in,
                "cookie": COOKIE,
            },
            {
                "name": "link",
                "path": link.removeprefix("/lake"),
                "form": FORM,
                "cookie": COOKIE,
            },
            {"name": "page", **delete},
            {"name": "script", **delete, "accept": "application/json"},
            {"name": "reader", "path": "/tables.json", **as_ada},
            {"name": "recipient", **shares},
        ],
        DELTAWEB_PUBLIC_URL=PREFIXED,
    )


class TestAWebProcess:
    def test_has_what_pages_need_before_it_forks(self, told: Told) -> None:
        assert told.before == {
            "views": [True, True],
            "templates": True,
            "libraries": True,
            "threads": 1,
            "connections": [None],
            "files": 0,
        }, told.errors

    def test_never_loads_spark_nor_pandas(self, told: Told) -> None:
        statuses = {path: told.answers[path]["status"] for path in PAGES}
        assert statuses == dict.fromkeys(PAGES, 200), told.errors
        assert told.unwanted == []


class TestBehindAProxyThatStripsAPrefix:
    def test_every_address_of_a_page_begins_with_the_prefix(self, told: Told) -> None:
        page = told.answers["sign-in"]

        addresses = re.findall(r'\b(?:href|src|action)="([^"]+)"', page["text"])
        assert page["status"] == 200
        assert len(addresses) > 5
        assert all(address.startswith("/lake/") for address in addresses), addresses

    def test_a_page_sends_to_the_sign_in_and_back(self, told: Told) -> None:
        page = told.answers["a stranger"]

        assert page["status"] == 302
        assert page["headers"]["Location"] == "/lake/sign-in/?next=/lake/shares/"

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ("signed in", ["deltaweb_csrf_lake", "deltaweb_session_lake"]),
            ("a message", ["messages_lake"]),
        ],
    )
    def test_cookies_stay_below_the_prefix(self, told: Told, asked, names) -> None:
        parsed = [SimpleCookie(one) for one in told.answers[asked]["cookies"]]
        paths = {name: one["path"] for jar in parsed for name, one in jar.items()}

        assert paths == dict.fromkeys(names, "/lake")

    def test_a_sign_in_link_names_the_prefix_once(self, installed: Installed) -> None:
        assert installed.link.startswith(f"{PREFIXED}/sign-in/")


class TestALockedDatabase:
    def test_makes_no_request_wait_for_long(self, told: Told) -> None:
        assert told.wait_ms == REQUEST_WAIT_MS
        assert "Traceback" not in told.errors

    @pytest.mark.parametrize("asked", ["password", "link", "page"])
    def test_is_a_page_that_says_so_to_those_who_write(self, told, asked):
        answer = told.answers[asked]

        assert answer["status"] == 503
        assert answer["headers"]["Retry-After"] == "5"
        assert "The database is busy, so this was not done." in answer["text"]
        assert "Nothing was changed. Try again in a few seconds." in answer["text"]

    def test_is_an_error_in_json_to_scripts(self, told: Told) -> None:
        answer = told.answers["script"]

        assert answer["status"] == 503
        error = json.loads(answer["text"])
        assert error["error"] == "database-busy"
        assert error["hint"]

    def test_keeps_nobody_from_reading(self, told: Told) -> None:
        for reader, listed in (("reader", "tables"), ("recipient", "items")):
            answer = told.answers[reader]
            assert answer["status"] == 200
            assert len(json.loads(answer["text"])[listed]) == 1

    def test_leaves_commands_their_patience(self, installed: Installed) -> None:
        assert installed.patience_ms == "30000"


def test_a_page_says_that_the_database_does_not_answer(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    told = ask(
        tmp_path_factory.mktemp("home"),
        *(
            {"name": path, "path": path, "bearer": "no-key"}
            for path in ("/", "/status", "/sign-in/", "/sign-in/a-token/")
        ),
        DELTAWEB_DATABASE_URL="postgres://someone:a-secret@127.0.0.1:1/name",
    )

    assert [answer["status"] for answer in told.answers.values()] == [503] * 4
    assert "a-secret" not in told.errors
