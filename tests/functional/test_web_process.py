"""What a web process may load: everything that pages need, and no more."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes.installation import ROOT, environment, migrate, run

# What gunicorn loads and asks, in a process whose modules can be looked at.
ASK = """
import sys
from io import BytesIO

from deltaweb.serving.wsgi import application

key, *paths = sys.argv[1:]

def ask(path):
    statuses = []
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000", "HTTP_AUTHORIZATION": f"Bearer {key}",
        "wsgi.url_scheme": "http", "wsgi.input": BytesIO(), "wsgi.errors": sys.stderr,
    }
    list(application(environ, lambda status, headers: statuses.append(status)))
    return statuses[0]

print(*(f"{path} {ask(path)}" for path in paths), sep="\\n")
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"pyspark", "py4j", "pandas"}))
"""


def test_a_web_process_never_loads_spark_nor_pandas(tmp_path: Path) -> None:
    table = tmp_path / "lake" / "orders"
    (table / "_delta_log").mkdir(parents=True)
    migrate(tmp_path)
    run(tmp_path, "user", "add", "ada", "--role", "admin")
    run(tmp_path, "table", "scan", str(table.parent))
    key = json.loads(run(tmp_path, "user", "key", "ada", "--json").stdout)["key"]
    paths = ("/", "/tables/", "/t/default/orders/", "/t/default/orders/data", "/jobs/")

    done = subprocess.run(
        [sys.executable, "-c", ASK, key, *paths],
        env=environment(tmp_path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    *answers, verdict = done.stdout.splitlines()
    assert answers == [f"{path} 200 OK" for path in paths], done.stderr
    assert verdict == "[]"


FORK = """
import os
import sys
import threading

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
print("views", "deltaweb.web.jobs.views" in sys.modules, get_resolver()._populated)
print("templates", "jobs/status.html" in loader.get_template_cache)
print("libraries", {"plotly.graph_objs", "pyarrow.parquet"} <= set(sys.modules))
print("threads", len(threading.enumerate()))
print("connections", [one.connection for one in connections.all()])
print("files", sum(map(is_kept, os.listdir("/proc/self/fd"))))
"""


def test_what_pages_need_is_there_before_the_processes_fork(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK],
        env=environment(tmp_path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.stdout.splitlines() == [
        "views True True",
        "templates True",
        "libraries True",
        "threads 1",
        "connections [None]",
        "files 0",
    ], done.stderr


PAGES_OF_NO_DATABASE = ("/", "/status", "/sign-in/", "/sign-in/a-token/")


@pytest.fixture(scope="module")
def without_database(tmp_path_factory: pytest.TempPathFactory):
    """What a web process answers whose database does not."""
    url = "postgres://someone:a-secret@127.0.0.1:1/name"
    return subprocess.run(
        [sys.executable, "-c", ASK, "no-key", *PAGES_OF_NO_DATABASE],
        env=environment(tmp_path_factory.mktemp("home"), DELTAWEB_DATABASE_URL=url),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("path", PAGES_OF_NO_DATABASE)
def test_a_page_says_that_the_database_does_not_answer(without_database, path):
    statuses = dict(
        line.split(" ", 1) for line in without_database.stdout.splitlines()[:-1]
    )

    assert statuses[path].startswith("503 "), without_database.stderr
    assert "a-secret" not in without_database.stderr


SHOW = """
import sys
from io import BytesIO

from deltaweb.serving.wsgi import application

environ = {
    "REQUEST_METHOD": "GET", "PATH_INFO": sys.argv[1], "SERVER_NAME": "127.0.0.1",
    "SERVER_PORT": "8000", "wsgi.url_scheme": "http", "wsgi.input": BytesIO(),
    "wsgi.errors": sys.stderr,
}
start = lambda status, headers: print(status, dict(headers).get("Location", ""))
sys.stdout.write(b"".join(application(environ, start)).decode())
"""


class TestBehindAProxyThatStripsAPrefix:
    URL = "https://data.example.org/lake"

    def show(self, home: Path, path: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", SHOW, path],
            env=environment(home, DELTAWEB_PUBLIC_URL=self.URL),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout

    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        migrate(tmp_path)
        return tmp_path

    def test_every_address_of_a_page_begins_with_the_prefix(self, home: Path) -> None:
        status, _, page = self.show(home, "/sign-in/").partition("\n")

        addresses = re.findall(r'\b(?:href|src|action)="([^"]+)"', page)
        assert status.startswith("200")
        assert len(addresses) > 5
        assert all(address.startswith("/lake/") for address in addresses), addresses

    def test_a_page_sends_to_the_sign_in_and_back(self, home: Path) -> None:
        status = self.show(home, "/shares/").partition("\n")[0]

        assert status.split() == ["302", "Found", "/lake/sign-in/?next=/lake/shares/"]

    def test_a_sign_in_link_names_the_prefix_once(self, home: Path) -> None:
        run(home, "user", "add", "ada", "--role", "admin")

        link = run(home, "user", "link", "ada", DELTAWEB_PUBLIC_URL=self.URL).stdout

        assert link.startswith(f"{self.URL}/sign-in/")
