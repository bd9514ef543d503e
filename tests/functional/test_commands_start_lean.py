"""Commands import what they need: what they do not would be most of their time."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog
from tests.support.processes.installation import ROOT, environment, manage, migrate

HEAVY = [
    *("pandas", "rest_framework", "celery", "kombu", "pyspark", "plotly"),
    *("fsspec", "sqlglot", "cryptography", "gunicorn", "django.contrib.admin"),
    *("deltaweb.urls", "deltaweb.delta.scan.rows", "pyarrow.dataset"),
]
ARROW = ["pyarrow", "numpy"]
# Modules of a process, with room for a few more: what loads a large package that no
# list here names is noticed all the same.
MOST_WITH_ARROW = 1045
MOST_WITHOUT = 785
VERBS = "apps.tables.management.verbs."
OTHER_VERBS = {VERBS + verb for verb in ("show", "history", "compared", "checks")}


@pytest.fixture
def table(tmp_path: Path) -> str:
    return LocalLog(tmp_path).start(add("a.parquet")).location


# The command as it always runs, which says at its end what it has imported.
COMMAND = """
import atexit, runpy, sys
atexit.register(lambda: print("imported", *sys.modules, file=sys.stderr))
runpy.run_module("deltaweb", run_name="__main__", alter_sys=True)
"""


def imported(home: Path, *arguments: str) -> set[str]:
    """Run a command to its end and return the modules that its process imported."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        env=environment(home, COVERAGE_PROCESS_CONFIG=""),
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return set(done.stderr.rpartition("imported ")[2].split())


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["table", "show", "--files", "--json"], id="table show --files"),
        pytest.param(["table", "history"], id="table history"),
    ],
)
def test_what_reads_a_log_imports_arrow_and_nothing_else_that_is_slow(
    tmp_path: Path, table: str, command: list[str]
) -> None:
    found = imported(tmp_path, *command, table)

    assert "pyarrow" in found
    assert found.isdisjoint(HEAVY)
    assert found.isdisjoint(OTHER_VERBS - {VERBS + command[1]})
    assert len(found) <= MOST_WITH_ARROW


def test_what_reads_rows_loads_no_spark(tmp_path: Path, lake: Path) -> None:
    found = imported(tmp_path, "table", "rows", str(lake / "returns"), "--limit", "1")

    assert "pyarrow" in found
    assert "pyspark" not in found


def test_pandas_is_there_to_be_imported() -> None:
    assert importlib.util.find_spec("pandas") is not None


def test_what_asks_the_database_alone_starts_without_arrow(tmp_path: Path) -> None:
    migrate(tmp_path)

    people = imported(tmp_path, "user", "list")
    tables = imported(tmp_path, "table", "list")

    assert "apps.accounts.models" in people
    assert VERBS + "catalog" in tables
    for found in (people, tables):
        assert found.isdisjoint([*HEAVY, *ARROW])
        assert len(found) <= MOST_WITHOUT


# What Celery does as a worker starts, before it takes a job.
WORKER = """
import sys
from deltaweb.celery import app
app.loader.init_worker()
print("imported", *sys.modules, file=sys.stderr)
"""


def test_a_worker_starts_without_pages(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        env=environment(tmp_path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    found = set(done.stderr.rpartition("imported ")[2].split())
    assert "apps.tables.index.refresh" in found
    assert found.isdisjoint(["deltaweb.urls", "rest_framework", "plotly", "gunicorn"])


def test_a_person_has_pandas_in_the_shell(tmp_path: Path) -> None:
    done = manage(tmp_path, "shell", "-c", "import pandas; print(pandas.__name__)")

    assert "pandas" in done.stdout.split()
