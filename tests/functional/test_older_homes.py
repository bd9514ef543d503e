"""The homes of older releases become those of today, with all that is in them."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import matrix
from tests.support.processes.installation import ROOT, environment, migrate, run
from tests.support.processes.older_home import LAST

ENDS = (next(iter(LAST)), next(reversed(LAST)))
"""All migrations that there are lie between these; the rows of both are kept."""


def database(home: Path) -> Path:
    return home / "deltaweb.sqlite3"


def counts(home: Path) -> dict[str, int]:
    """How many rows each table has."""
    with closing(sqlite3.connect(database(home))) as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        )
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 (names of its own)
            for (name,) in names.fetchall()
        }


def schema(home: Path) -> set[tuple[str, str]]:
    """The columns of all tables, and the indexes and triggers of the database."""
    with closing(sqlite3.connect(database(home))) as connection:
        things = connection.execute("SELECT type, name FROM sqlite_master").fetchall()
        columns = {
            (table, str(column[1:4]))
            for kind, table in things
            if kind == "table"
            for column in connection.execute(f'PRAGMA table_info("{table}")')
        }
    return {*columns, *things}


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the home of each release."""
    folder = tmp_path_factory.mktemp("homes")
    subprocess.run(
        [sys.executable, "-m", "tests.support.processes.older_home", str(folder)],
        env=environment(tmp_path_factory.mktemp("made")),
        cwd=ROOT,
        check=True,
    )
    return folder


@matrix("release", LAST, often=ENDS)
def test_the_home_of_a_release_is_brought_up_to_today(
    release: str, homes: Path, tmp_path: Path
) -> None:
    home = homes / release
    before = counts(home)
    ours = ("accounts_", "audit_", "jobs_", "sharing_", "tables_")
    assert all(n for name, n in before.items() if name.startswith(ours))

    done = run(home, "migrate", "--verbosity", "0")

    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Kept a copy of the database in ")
    after = counts(home)
    kept = {name: after[name] for name in before if name.startswith(ours)}
    assert kept == {name: before[name] for name in kept}
    migrate(tmp_path)
    assert schema(home) == schema(tmp_path)
