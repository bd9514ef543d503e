"""Databases of a PostgreSQL server, each a copy of one of the newest migrations."""

import functools
import os
import tempfile
import uuid
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from filelock import FileLock

from tests.support.processes.installation import run


def named(url: str, name: str) -> str:
    """The address of another database of a server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def migrate_database(url: str) -> None:
    """Give a database of a server the newest migrations."""
    with tempfile.TemporaryDirectory() as home:
        migrated = run(
            Path(home), "migrate", "--verbosity", "0", DELTAWEB_DATABASE_URL=url
        )
    assert migrated.returncode == 0, migrated.stderr


def new_migrated_database(url: str, name: str) -> str:
    """Make a database of the newest migrations; return its address."""
    template = _migrated(url)
    with _template_lock(template):
        _administer(url, f"DROP DATABASE IF EXISTS {name}")
        _administer(url, f"CREATE DATABASE {name} TEMPLATE {template}")
    return named(url, name)


@functools.cache
def _migrated(url: str) -> str:
    """The name of a database that others are copies of.

    The first of the processes that run side by side makes it for all.
    """
    run_id = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
    name = f"migrated_{run_id}"
    with _template_lock(name):
        if not _administer(url, f"SELECT FROM pg_database WHERE datname = '{name}'"):
            _administer(url, f"CREATE DATABASE {name} TEMPLATE template0")
            migrate_database(named(url, name))
    return name


def _template_lock(name: str) -> FileLock:
    return FileLock(Path(tempfile.gettempdir()) / f"{name}.lock")


def _administer(url: str, statement: str) -> int:
    """Run a statement; return how many rows it found."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).rowcount
