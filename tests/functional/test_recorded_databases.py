"""Databases that earlier releases wrote are upgraded, with all that is in them."""

import os
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.support.processes.installation import run
from tests.support.processes.postgresql import empty_database, running_postgresql
from tests.support.processes.recorded_databases import (
    RELEASES,
    VARIABLES,
    postgresql_counts,
    sqlite_counts,
    unpack_postgresql,
    unpack_sqlite,
)

PRIVATE = "SELECT name FROM tables_table WHERE is_private ORDER BY name"
MIGRATIONS = "SELECT count(*) FROM django_migrations"


def count_migrations(url: str) -> int:
    with psycopg.connect(url) as connection:
        return int((connection.execute(MIGRATIONS).fetchone() or (0,))[0])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_postgresql() as server:
        yield server


@pytest.mark.parametrize("release", RELEASES)
def test_a_sqlite_file_keeps_its_rows_and_leaves_a_copy(
    release: str, tmp_path: Path
) -> None:
    file = unpack_sqlite(release, tmp_path)
    before = sqlite_counts(file)
    with closing(sqlite3.connect(file)) as connection:
        num_migrations = connection.execute(MIGRATIONS).fetchone()[0]
    assert before["sharing_recipienttoken"] >= 2
    assert len([name for name, count in before.items() if count]) > 30

    done = run(tmp_path, "migrate", "--verbosity", "0", **VARIABLES)

    assert done.returncode == 0, done.stderr
    after = sqlite_counts(file)
    assert {name: after[name] for name in before} == before
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute(PRIVATE).fetchall() == [("pay",), ("secret",)]
        is_upgraded = connection.execute(MIGRATIONS).fetchone()[0] > num_migrations
    copies = [*tmp_path.glob("backups/*")]
    assert [sqlite_counts(copy) for copy in copies] == [before] * is_upgraded


@pytest.mark.parametrize("release", RELEASES)
def test_a_postgresql_database_keeps_its_rows_though_two_servers_start(
    release: str, server: str, tmp_path: Path
) -> None:
    url = empty_database(server, f"upgraded-{os.getpid()}")
    unpack_postgresql(release, url)
    before = postgresql_counts(url)
    num_migrations = count_migrations(url)
    assert len([name for name, count in before.items() if count]) > 30
    line = ("migrate", "--verbosity", "0")
    variables = {**VARIABLES, "DELTAWEB_DATABASE_URL": url}

    with ThreadPoolExecutor(2) as both:
        runs = [both.submit(run, tmp_path, *line, **variables) for _ in range(2)]
        done = [one.result() for one in runs]

    assert [one.returncode for one in done] == [0, 0], done
    after = postgresql_counts(url)
    assert {name: after[name] for name in before} == before
    with psycopg.connect(url) as connection:
        assert connection.execute(PRIVATE).fetchall() == [("pay",), ("secret",)]
    is_upgraded = count_migrations(url) > num_migrations  # by one of the two
    copies = [*tmp_path.glob("backups/*")]
    assert [one.suffix for one in copies] == [".backup"] * is_upgraded
    assert {one.stat().st_mode & 0o777 for one in copies} <= {0o600}


def test_a_migration_that_waits_for_a_lock_gives_up_and_changes_nothing(
    server: str, tmp_path: Path
) -> None:
    url = empty_database(server, f"locked-{os.getpid()}")
    unpack_postgresql(RELEASES[0], url)
    variables = {**VARIABLES, "DELTAWEB_DATABASE_URL": url}

    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE tables_table IN ACCESS SHARE MODE")
        done = run(tmp_path, "migrate", "--verbosity", "0", **variables)

    assert done.returncode == 1
    assert "waited 10 s for a lock" in done.stderr
    again = run(tmp_path, "migrate", "--verbosity", "0", **variables)
    assert again.returncode == 0, again.stderr
