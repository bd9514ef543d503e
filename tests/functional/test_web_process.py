"""What a web process may load: everything that pages need, and never Spark."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation import ROOT, environment, run

# What gunicorn loads and asks, in a process whose modules can be looked at.
ASK = """
import sys
from io import BytesIO

from deltaweb.wsgi import application

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
print("Spark" if loaded & {"pyspark", "py4j"} else "no Spark")
"""


def test_a_web_process_never_loads_spark(tmp_path: Path) -> None:
    table = tmp_path / "lake" / "orders"
    (table / "_delta_log").mkdir(parents=True)
    assert run(tmp_path, "migrate", "--verbosity", "0").returncode == 0
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
    assert verdict == "no Spark"


@pytest.mark.parametrize("path", ["/", "/status", "/sign-in/", "/sign-in/a-token/"])
def test_a_page_says_that_the_database_does_not_answer(
    tmp_path: Path, path: str
) -> None:
    url = "postgres://someone:a-secret@127.0.0.1:1/name"
    done = subprocess.run(
        [sys.executable, "-c", ASK, "no-key", path],
        env=environment(tmp_path, DELTAWEB_DATABASE_URL=url),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.stdout.startswith(f"{path} 503 "), done.stderr
    assert "a-secret" not in done.stderr
