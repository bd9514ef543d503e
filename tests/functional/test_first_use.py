"""A command in a home where nothing was served yet creates the embedded database."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connections

from apps.pages.first_use import embedded_file
from tests.support.processes.installation import manage, run

pytestmark = pytest.mark.slow


def created(home: Path) -> str:
    return f"Created {home / 'deltaweb.sqlite3'}\n"


def test_the_first_command_creates_it_and_says_where_on_stderr(tmp_path: Path) -> None:
    first = run(tmp_path, "table", "list", "--json")
    second = run(tmp_path, "share", "create", "retail")

    assert (first.returncode, first.stderr) == (0, created(tmp_path))
    assert first.stdout.strip() == "[]"
    assert (second.returncode, second.stderr) == (0, "")
    with closing(sqlite3.connect(tmp_path / "deltaweb.sqlite3")) as database:
        assert database.execute("SELECT name FROM sharing_share").fetchall() == [
            ("retail",)
        ]


def test_of_commands_at_once_one_creates_it_and_all_are_done(tmp_path: Path) -> None:
    lines = (["user", "list"], ["share", "create", "a"], ["table", "list"])
    with ThreadPoolExecutor(len(lines)) as threads:
        done = [*threads.map(lambda line: run(tmp_path, *line), lines)]

    assert [one.returncode for one in done] == [0] * len(lines), done
    assert sorted(one.stderr for one in done) == ["", "", created(tmp_path)]


def test_a_command_that_needs_no_database_creates_none(tmp_path: Path) -> None:
    missing = run(tmp_path, "parquet", "show", str(tmp_path / "none.parquet"))
    wrong = run(tmp_path, "table", "list", "--no-such-option")

    assert (missing.returncode, wrong.returncode) == (1, 2)
    assert not (tmp_path / "deltaweb.sqlite3").exists()


def test_a_database_that_cannot_be_made_is_named_with_the_way_out(tmp_path) -> None:
    file = tmp_path / "none" / "x.sqlite3"

    done = run(tmp_path, "table", "list", DELTAWEB_DATABASE_URL=f"sqlite:///{file}")

    assert done.returncode == 1
    assert f"The database {file} cannot be opened or written" in done.stderr
    assert "DELTAWEB_HOME" in done.stderr
    assert "Traceback" not in done.stderr


def test_other_commands_create_none(tmp_path: Path) -> None:
    done = manage(tmp_path, "dumpdata", "sharing")

    assert done.returncode == 1
    assert "no such table" in done.stderr
    assert "Created" not in done.stderr


def test_a_database_server_has_no_file_to_create(monkeypatch) -> None:
    monkeypatch.setattr(type(connections["default"]), "vendor", "postgresql")

    assert embedded_file() is None
