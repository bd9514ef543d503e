"""A database that somebody else writes to: who asks to write is answered soon."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from deltaweb.web.pages.request.lock_waits import REQUEST_WAIT_MS
from tests.support.processes.installation import (
    ROOT,
    START_TIMEOUT_S,
    environment,
    manage,
    migrate,
    run,
)

# Asks the application as gunicorn loads it, each of what standard input lists.
ASK = """
import json
import sys
from io import BytesIO
from urllib.parse import urlencode

from deltaweb.serving.wsgi import application

def ask(method, path, form=None, accept="", cookie="", bearer=""):
    body = urlencode(form or {}).encode()
    answer = {}
    def start_response(status, headers):
        answer["status"] = int(status.split()[0])
        answer["headers"] = dict(headers)
    environ = {
        "REQUEST_METHOD": method, "PATH_INFO": path, "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000", "wsgi.url_scheme": "http", "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr, "HTTP_ACCEPT": accept, "HTTP_COOKIE": cookie,
    }
    if bearer:
        environ["HTTP_AUTHORIZATION"] = f"Bearer {bearer}"
    text = b"".join(application(environ, start_response)).decode()
    return {**answer, "text": text}

answers = [ask(**asked) for asked in json.load(sys.stdin)]

from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("PRAGMA busy_timeout")
    (wait_ms,) = cursor.fetchone()
json.dump({"answers": answers, "wait_ms": wait_ms}, sys.stdout)
"""
CSRF = "a" * 32
FORM = {"csrfmiddlewaretoken": CSRF}
COOKIE = f"deltaweb_csrf={CSRF}"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with a user, a recipient and a share."""
    home = tmp_path_factory.mktemp("home")
    migrate(home)
    run(home, "user", "add", "ada", "--role", "admin")
    run(home, "share", "create", "retail")
    return home


@pytest.fixture(scope="module")
def key(home: Path) -> str:
    return str(json.loads(run(home, "user", "key", "ada", "--json").stdout)["key"])


@pytest.fixture(scope="module")
def token(home: Path) -> str:
    profile = home / "nightly.share"
    run(
        home,
        *("recipient", "create", "nightly", "--share", "retail"),
        *("--profile", str(profile)),
    )
    return str(json.loads(profile.read_text())["bearerToken"])


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Hold the database as one who writes to it does."""
    holder = sqlite3.connect(home / "deltaweb.sqlite3", isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        yield
    finally:
        holder.close()


def ask(home: Path, *asked: dict[str, Any]) -> dict[str, Any]:
    """Ask a web process; return its answers, and how long its connection waits."""
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps(asked),
        env=environment(home),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=START_TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture(scope="module")
def told(home: Path, key: str, token: str) -> dict[str, Any]:
    """What a web process answers whose database is locked all the time."""
    sign_in = {"name": "ada", "password": "not hers", **FORM}
    link = urlsplit(run(home, "user", "link", "ada").stdout.strip()).path
    delete = {"path": "/shares/retail/delete", "form": {"confirm": "retail"}}
    with locked(home):
        return ask(
            home,
            {"method": "POST", "path": "/sign-in/", "form": sign_in, "cookie": COOKIE},
            {"method": "GET", "path": link},
            {"method": "POST", **delete, "bearer": key},
            {"method": "POST", **delete, "bearer": key, "accept": "application/json"},
            {"method": "GET", "path": "/tables.json", "bearer": key},
            {"method": "GET", "path": "/delta-sharing/shares", "bearer": token},
        )


def of(told: dict[str, Any], number: int) -> dict[str, Any]:
    answer: dict[str, Any] = told["answers"][number]
    return answer


class TestALockedDatabase:
    def test_makes_no_request_wait_for_long(self, told: dict[str, Any]) -> None:
        assert told["wait_ms"] == REQUEST_WAIT_MS

    @pytest.mark.parametrize("number", [0, 1, 2], ids=["password", "link", "page"])
    def test_is_a_page_that_says_so_to_those_who_write(self, told, number):
        answer = of(told, number)

        assert answer["status"] == 503
        assert answer["headers"]["Retry-After"] == "5"
        assert "The database is being written to; this was not done." in answer["text"]
        assert "Nothing was changed. Try again in a few seconds." in answer["text"]

    def test_is_an_error_in_json_to_scripts(self, told: dict[str, Any]) -> None:
        answer = of(told, 3)

        assert answer["status"] == 503
        error = json.loads(answer["text"])
        assert error["error"] == "database-busy"
        assert error["hint"]

    def test_keeps_nobody_from_reading(self, told: dict[str, Any]) -> None:
        assert of(told, 4)["status"] == 200
        assert json.loads(of(told, 4)["text"])["tables"] == []

    def test_keeps_no_recipient_from_reading(self, told: dict[str, Any]) -> None:
        answer = of(told, 5)

        assert answer["status"] == 200
        assert [item["name"] for item in json.loads(answer["text"])["items"]] == [
            "retail"
        ]

    def test_leaves_commands_their_patience(self, home: Path, told: object) -> None:
        del told
        script = (
            "from django.db import connection\n"
            "cursor = connection.cursor()\n"
            "print(cursor.execute('PRAGMA busy_timeout').fetchone()[0])"
        )

        done = manage(home, "shell", "--no-imports", "--command", script)

        assert done.stdout.strip() == "30000"
