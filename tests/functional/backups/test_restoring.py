"""A backup restores into an empty place on any engine, or changes nothing."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import requests

from tests.functional.backups.documents import (
    EMPTY,
    WORDS,
    kept_rows,
    new_home,
    rewrite,
    rows_of,
)
from tests.support.processes.installation import environment, run, serving, wait_for
from tests.support.processes.postgresql import empty_database
from tests.support.processes.recorded_databases import VARIABLES

LISTS = (
    ("table", "list"),
    ("share", "list"),
    ("recipient", "list"),
    ("user", "list"),
    ("group", "list"),
    ("storage", "list"),
)


def lists(home: Path, **variables: str) -> list[str]:
    """What the lists of an installation print as JSON."""
    runs = [run(home, *line, "--json", **variables) for line in LISTS]
    assert [one.returncode for one in runs] == [0] * len(runs), runs
    return [one.stdout for one in runs]


def revoked(home: Path) -> dict[str, int]:
    done = run(home, "restored", "revoke", "--yes", "--json")
    found = json.loads(done.stdout)["revoked"]
    return {one["name"]: one["count"] for one in found}


def token_ids(recipients: str) -> list[str]:
    rows = json.loads(recipients)
    return [token["id"] for row in rows for token in row["tokens"]]


def test_a_backup_is_encrypted_and_closed_to_others(backup: Path) -> None:
    data = backup.read_bytes()

    assert backup.stat().st_mode & 0o777 == 0o600
    assert data.startswith(b"deltaweb-backup 1\n")
    assert b"acme" not in data
    assert [*backup.parent.glob("*.part")] == []


def test_sqlite_restores_into_postgresql_and_back_row_by_row(
    source: Path, backup: Path, server: str, tmp_path: Path
) -> None:
    url = empty_database(server, f"restored-{os.getpid()}")
    there = {"DELTAWEB_DATABASE_URL": url}
    first, second = new_home(tmp_path / "first"), new_home(tmp_path / "second")
    back, again = tmp_path / "back.backup", tmp_path / "again.backup"

    restored = run(first, "restore", str(backup), **there, **WORDS)
    assert restored.returncode == 0, restored.stderr
    before, after = lists(source, **VARIABLES), lists(first, **there)
    links_differ = LISTS.index(("recipient", "list"))  # theirs are no longer valid
    assert token_ids(after.pop(links_differ)) == token_ids(before.pop(links_differ))
    assert after == before
    added = run(first, "user", "add", "new", "--role", "viewer", **there)
    assert added.returncode == 0, added.stderr  # sequences follow the rows
    made = run(first, "backup", str(back), **there, **WORDS)
    assert made.returncode == 0, made.stderr

    done = run(second, "restore", str(back), **WORDS)

    assert done.returncode == 0, done.stderr
    assert lists(second) == lists(first, **there)
    made = run(second, "backup", str(again), **WORDS)
    assert made.returncode == 0, made.stderr
    of_source, of_first, of_second = map(rows_of, (backup, back, again))
    assert [one for one, rows in of_source.items() if not rows] == EMPTY
    assert kept_rows(of_first, also_in=of_source) == kept_rows(of_source)
    assert kept_rows(of_second, also_in=of_first) == kept_rows(of_first)
    shown = run(second, "storage", "reseal", "--json")  # by a key of its own
    assert shown.returncode == 0, shown.stderr


def test_a_restored_server_lets_no_outsider_in(backup: Path, tmp_path: Path) -> None:
    home = new_home(tmp_path / "home")

    done = run(home, "restore", str(backup), **WORDS)

    assert done.returncode == 0, done.stderr
    assert "also those that were revoked after the backup" in done.stdout
    switches = run(home, "switch", "list").stdout.splitlines()
    off = {line.split()[0] for line in switches[1:] if line.split()[1] == "off"}
    assert off == {"sharing", "sign-in", "notifications"}
    with closing(sqlite3.connect(home / "deltaweb.sqlite3")) as database:

        def count(query: str) -> int:
            return int(database.execute(f"SELECT count(*) FROM {query}").fetchone()[0])  # noqa: S608 (our own words)

        assert count("django_session") == 0
        assert count("jobs_job WHERE state IN ('QUEUED', 'RUNNING')") == 0
        assert count("accounts_signinlink WHERE used_at IS NULL") == 0
        assert count("accounts_addresslink") == 0
        links = "sharing_activationlink WHERE used_at IS NULL AND withdrawn_at IS NULL"
        assert count(links) == 0
        assert count("audit_auditevent WHERE action = 'server.restore'") == 1
        assert count("operate_restoration") == 2  # the recorded database has one
    shown = run(home, "restored", "show")
    assert "token" in shown.stdout
    assert "API key" in shown.stdout
    assert revoked(home) == {"api-keys": 1, "tokens": 2}
    shown = run(home, "restored", "show")
    assert "token" not in shown.stdout
    assert "API key" not in shown.stdout
    assert revoked(home) == {"api-keys": 0, "tokens": 0}
    recipients = json.loads(run(home, "recipient", "list", "--json").stdout)
    assert {one["token_state"] for one in recipients} == {"revoked"}


def test_a_database_in_use_is_replaced_only_if_that_is_said(
    backup: Path, tmp_path: Path
) -> None:
    home = new_home(tmp_path / "home")
    assert run(home, "user", "add", "kept", "--role", "admin").returncode == 0

    refused = run(home, "restore", str(backup), **WORDS)

    assert refused.returncode == 1
    assert "The database is in use: rows of accounts.user: 1" in refused.stderr
    assert "kept" in run(home, "user", "list").stdout
    assert run(home, "restore", "--replace", str(backup), **WORDS).returncode == 0
    names = run(home, "user", "list").stdout
    assert "kept" not in names
    assert "ada" in names


def test_damaged_files_and_wrong_words_change_nothing(
    backup: Path, tmp_path: Path
) -> None:
    home = new_home(tmp_path / "home")
    assert run(home, "user", "add", "kept", "--role", "admin").returncode == 0
    before = run(home, "user", "list", "--json").stdout
    cut = tmp_path / "cut.backup"
    cut.write_bytes(backup.read_bytes()[:-1])
    words = {"DELTAWEB_BACKUP_PASSPHRASE": "others"}
    cases: tuple[tuple[Path, dict[str, str], str], ...] = (
        (cut, WORDS, "or the file damaged"),
        (backup, words, "the passphrase is wrong"),
        (backup, {}, "No passphrase was given"),
        (tmp_path / "none", WORDS, "cannot be read"),
        (Path("/dev/null"), WORDS, "does not begin as a backup"),
    )
    for file, variables, said in cases:
        done = run(home, "restore", "--replace", str(file), **variables)
        assert done.returncode == 1
        assert said in done.stderr

    assert run(home, "user", "list", "--json").stdout == before


def test_a_server_goes_on_while_its_database_is_replaced(
    tmp_path: Path, lake: Path
) -> None:
    home, file = new_home(tmp_path / "home"), tmp_path / "early.backup"
    orders = shutil.copytree(lake / "orders", tmp_path / "orders")
    with serving(home, DELTAWEB_ALLOWED_ROOTS=str(tmp_path)) as server:
        server.command("user", "add", "boss", "--role", "admin")
        key = json.loads(server.command("user", "key", "boss", "--json"))["key"]
        server.command("backup", "--plain", str(file))
        server.command("user", "add", "late", "--role", "viewer")

        def answer(place: str) -> requests.Response:
            sent = {"Authorization": f"Bearer {key}"}
            return requests.get(
                f"{server.url}/api/v1/{place}", headers=sent, timeout=60
            )

        done = run(home, "restore", "--replace", str(file))
        refused = answer("tables")
        server.command("switch", "on", "sign-in")
        line = ("table", "add", "orders", str(orders))
        added = run(home, *line, DELTAWEB_ALLOWED_ROOTS=str(tmp_path))

        assert done.returncode == 0, done.stderr
        assert (refused.status_code, refused.json()["error"]) == (503, "switched-off")
        assert "late" not in server.command("user", "list")
        assert added.returncode == 0, added.stderr
        place = "tables/default/orders"
        assert wait_for(lambda: answer(place).json().get("state") == "INDEXED")
        assert "Traceback" not in server.log


def test_a_database_of_a_newer_version_is_not_backed_up(
    source: Path, tmp_path: Path
) -> None:
    newer = new_home(tmp_path / "newer")
    file = tmp_path / "newer.backup"
    shutil.copy(source / "deltaweb.sqlite3", newer)
    with closing(sqlite3.connect(newer / "deltaweb.sqlite3")) as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('tables', '9999_later', '2027-01-01')"
        )
        database.commit()

    done = run(newer, "backup", "--plain", str(file))

    assert done.returncode == 1
    assert "tables.9999_later, which this version does not know" in done.stderr
    assert not file.exists()


def test_a_backup_of_a_newer_version_is_not_restored(
    source: Path, tmp_path: Path
) -> None:
    home, file = new_home(tmp_path / "home"), tmp_path / "newer.backup"
    done = run(source, "backup", "--plain", str(file), **VARIABLES)
    assert done.returncode == 0, done.stderr
    _make_newer(file)

    refused = run(home, "restore", str(file))

    assert refused.returncode == 1
    said = "was made by version 99.0.0, which has tables.9999_later."
    assert said in refused.stderr
    assert "Install that version or a newer one" in refused.stderr
    assert "Traceback" not in refused.stderr
    with closing(sqlite3.connect(home / "deltaweb.sqlite3")) as database:
        assert database.execute("SELECT * FROM sqlite_master").fetchall() == []


def _make_newer(file: Path) -> None:
    """Rewrite a plain backup as a later version would have made it."""
    head = {"made_by": "99.0.0", "added_later": True}
    rewrite(file, head=head, migration=["tables", "9999_later"])


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_killed_restore_leaves_the_former_state(
    engine: str, backup: Path, server: str, tmp_path: Path
) -> None:
    home = new_home(tmp_path / "home")
    variables = dict(WORDS)
    if engine == "postgresql":
        url = empty_database(server, f"killed-{os.getpid()}")
        variables["DELTAWEB_DATABASE_URL"] = url
    added = run(home, "migrate", "--verbosity", "0", **variables)
    assert added.returncode == 0, added.stderr
    assert (
        run(home, "user", "add", "kept", "--role", "admin", **variables).returncode == 0
    )
    line = [sys.executable, "-m", "deltaweb", "restore", "--replace", str(backup)]
    killed = 0
    for delay_s in (1.0, 2.5, 4.0):
        process = subprocess.Popen(
            line,
            env=environment(home, **variables),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay_s)
        process.send_signal(signal.SIGKILL)
        killed += process.wait(60) == -signal.SIGKILL

        names = run(home, "user", "list", **variables)

        assert names.returncode == 0, names.stderr
        assert ("kept" in names.stdout) != ("ada" in names.stdout)
    assert killed >= 1
    done = run(home, "restore", "--replace", str(backup), **variables)
    assert done.returncode == 0, done.stderr
    if engine == "postgresql":
        with psycopg.connect(variables["DELTAWEB_DATABASE_URL"]) as database:
            found = database.execute("SELECT count(*) FROM accounts_user").fetchone()
            assert found == (3,)
