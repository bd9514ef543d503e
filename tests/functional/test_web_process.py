"""What a web process may load: everything that pages need, and no more."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes.installation import (
    ROOT,
    START_TIMEOUT_S,
    environment,
    migrate,
    run,
)

# What gunicorn loads and asks, in a process whose modules can be looked at: what it has
# before it forks, the answers, and what it has then.
ASK = """
import json
import os
import sys
import threading
from io import BytesIO

from deltaweb.serving.wsgi import application
from django.db import connections
from django.template import engines
from django.urls import get_resolver

def is_kept(name):
    try:
        return os.path.isfile(f"/proc/self/fd/{name}")
    except OSError:
        return False

(loader,) = engines["django"].engine.template_loaders[0].loaders
before = {
    "views": ["deltaweb.web.jobs.views" in sys.modules, get_resolver()._populated],
    "templates": "jobs/status.html" in loader.get_template_cache,
    "libraries": {"plotly.graph_objs", "pyarrow.parquet"} <= set(sys.modules),
    "threads": len(threading.enumerate()),
    "connections": [one.connection for one in connections.all()],
    "files": sum(map(is_kept, os.listdir("/proc/self/fd"))),
}
key, *paths = sys.argv[1:]

def ask(path):
    told = []
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000", "HTTP_AUTHORIZATION": f"Bearer {key}",
        "wsgi.url_scheme": "http", "wsgi.input": BytesIO(), "wsgi.errors": sys.stderr,
    }
    if not key:
        del environ["HTTP_AUTHORIZATION"]
    said = application(environ, lambda status, headers: told.extend([status, headers]))
    text = b"".join(said).decode()
    return {"status": told[0], "to": dict(told[1]).get("Location", ""), "text": text}

answers = {path: ask(path) for path in paths}
loaded = {name.partition(".")[0] for name in sys.modules}
unwanted = sorted(loaded & {"pyspark", "py4j", "pandas"})
json.dump({"before": before, "answers": answers, "unwanted": unwanted}, sys.stdout)
"""


@dataclass(frozen=True)
class Told:
    """What a web process had before it answered, what it answered, and its errors."""

    before: dict[str, Any]
    answers: dict[str, dict[str, str]]
    unwanted: list[str]
    errors: str


def ask(home: Path, key: str, *paths: str, **variables: str) -> Told:
    """Ask a web process for pages; without a key, as somebody who is not signed in."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, key, *paths],
        env=environment(home, **variables),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=START_TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    return Told(**json.loads(done.stdout), errors=done.stderr)


PAGES = ("/", "/tables/", "/t/default/orders/", "/t/default/orders/data", "/jobs/")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    home = tmp_path_factory.mktemp("home")
    table = home / "lake" / "orders"
    (table / "_delta_log").mkdir(parents=True)
    migrate(home)
    run(home, "user", "add", "ada", "--role", "admin")
    run(home, "table", "scan", str(table.parent))
    key = json.loads(run(home, "user", "key", "ada", "--json").stdout)["key"]
    return ask(home, key, *PAGES)


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
        statuses = {path: said["status"] for path, said in told.answers.items()}
        assert statuses == dict.fromkeys(PAGES, "200 OK"), told.errors
        assert told.unwanted == []


PAGES_OF_NO_DATABASE = ("/", "/status", "/sign-in/", "/sign-in/a-token/")


@pytest.fixture(scope="module")
def without_database(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """What a web process answers whose database does not."""
    url = "postgres://someone:a-secret@127.0.0.1:1/name"
    return ask(
        tmp_path_factory.mktemp("home"),
        "no-key",
        *PAGES_OF_NO_DATABASE,
        DELTAWEB_DATABASE_URL=url,
    )


@pytest.mark.parametrize("path", PAGES_OF_NO_DATABASE)
def test_a_page_says_that_the_database_does_not_answer(without_database, path):
    status = without_database.answers[path]["status"]

    assert status.startswith("503 "), without_database.errors
    assert "a-secret" not in without_database.errors


PREFIXED = "https://data.example.org/lake"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    migrate(home)
    return home


@pytest.fixture(scope="module")
def answers(home: Path) -> dict[str, dict[str, str]]:
    return ask(home, "", "/sign-in/", "/shares/", DELTAWEB_PUBLIC_URL=PREFIXED).answers


class TestBehindAProxyThatStripsAPrefix:
    def test_every_address_of_a_page_begins_with_the_prefix(self, answers) -> None:
        page = answers["/sign-in/"]

        addresses = re.findall(r'\b(?:href|src|action)="([^"]+)"', page["text"])
        assert page["status"].startswith("200")
        assert len(addresses) > 5
        assert all(address.startswith("/lake/") for address in addresses), addresses

    def test_a_page_sends_to_the_sign_in_and_back(self, answers) -> None:
        page = answers["/shares/"]

        assert page["status"] == "302 Found"
        assert page["to"] == "/lake/sign-in/?next=/lake/shares/"

    def test_a_sign_in_link_names_the_prefix_once(self, home: Path) -> None:
        run(home, "user", "add", "ada", "--role", "admin")

        link = run(home, "user", "link", "ada", DELTAWEB_PUBLIC_URL=PREFIXED).stdout

        assert link.startswith(f"{PREFIXED}/sign-in/")
