"""Databases that earlier releases wrote (`tests/recorded/databases`)."""

import lzma
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from tests.recorded.databases.__main__ import FOLDER, KEY

RELEASES = sorted(file.name[: -len(".sql.xz")] for file in FOLDER.glob("*.sql.xz"))
VARIABLES = {"DELTAWEB_SECRET_KEY": KEY}
OURS = (
    *("accounts_", "api_", "audit_", "jobs_", "notices_", "operate_", "sharing_"),
    "tables_",
)


def unpack_sqlite(release: str, home: Path) -> Path:
    """Put the recorded file of a release into a home."""
    file = home / "deltaweb.sqlite3"
    file.write_bytes(lzma.decompress((FOLDER / f"{release}.sqlite3.xz").read_bytes()))
    return file


def unpack_postgresql(release: str, url: str) -> None:
    """Put the recorded text of a release into an empty database."""
    text = lzma.decompress((FOLDER / f"{release}.sql.xz").read_bytes())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(text)


def sqlite_counts(file: Path) -> dict[str, int]:
    """Return the number of rows of each table of ours."""
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        )
        names = [name for (name,) in found if name.startswith(OURS)]
        return {
            name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 (names of its own)
            for name in names
        }


def postgresql_counts(url: str) -> dict[str, int]:
    """Return the number of rows of each table of ours."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        names = [name for (name,) in found if name.startswith(OURS)]
        counts = {}
        for name in names:
            query = f'SELECT count(*) FROM "{name}"'.encode()  # noqa: S608 (as above)
            row = connection.execute(query).fetchone()
            counts[name] = row[0] if row else 0
        return counts
