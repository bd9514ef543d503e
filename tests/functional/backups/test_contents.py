"""A backup that does not fit changes nothing, and its files are closed to others."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.functional.backups.documents import Model, new_home, rewrite
from tests.support.processes.installation import ROOT, environment, run
from tests.support.processes.postgresql import empty_database
from tests.support.processes.recorded_databases import VARIABLES

GONE = 4_711
Change = Callable[[Model], Model]


@pytest.fixture(scope="module")
def plain(source: Path) -> Path:
    file = source.parent / "plain.backup"
    done = run(source, "backup", "--plain", str(file), **VARIABLES)
    assert done.returncode == 0, done.stderr
    return file


def pointing_at_nothing(model: Model) -> Model:
    label, names, rows = model
    if label == "accounts.membership":
        at = names.index("user_id")
        rows = [[*row[:at], GONE, *row[at + 1 :]] for row in rows]
    return label, names, rows


def with_other_text(model: Model) -> Model:
    label, names, rows = model
    if label == "accounts.membership":
        at = names.index("since")
        rows = [[*row[:at], "long ago", *row[at + 1 :]] for row in rows]
    return label, names, rows


def of_another_model(model: Model) -> Model:
    label, names, rows = model
    return f"{label}s" if label == "accounts.membership" else label, names, rows


def with_another_column(model: Model) -> Model:
    label, names, rows = model
    if label == "accounts.membership":
        names, rows = [*names, "is_admin"], [[*row, True] for row in rows]
    return label, names, rows


def with_a_session(model: Model) -> Model:
    if model[0] == "accounts.membership":
        names = ["session_key", "session_data", "expire_date"]
        row = ["k" * 32, "signed", "2030-01-01T00:00:00+00:00"]
        return "sessions.session", names, [row]
    return model


UNFIT: dict[str, tuple[Change, str]] = {
    "a reference to nothing": (pointing_at_nothing, "Rows of a reference do not fit"),
    "a value of another kind": (with_other_text, "accounts.membership do not fit"),
    "a model that is unknown": (
        of_another_model,
        "accounts.memberships does not fit its migrations",
    ),
    "a column that is unknown": (
        with_another_column,
        "accounts.membership does not fit its migrations",
    ),
    "a session": (with_a_session, "sessions.session cannot be restored"),
}


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_rows_that_do_not_fit_leave_the_former_state(
    engine: str, plain: Path, tmp_path: Path, server: str
) -> None:
    home, file = new_home(tmp_path / "home"), tmp_path / "unfit.backup"
    variables = {}
    if engine == "postgresql":
        url = empty_database(server, f"unfit-{os.getpid()}")
        variables["DELTAWEB_DATABASE_URL"] = url
    migrated = run(home, "migrate", "--verbosity", "0", **variables)
    assert migrated.returncode == 0, migrated.stderr
    added = run(home, "user", "add", "kept", "--role", "admin", **variables)
    assert added.returncode == 0, added.stderr
    before = run(home, "user", "list", "--json", **variables).stdout

    for name, (change, said) in UNFIT.items():
        shutil.copy(plain, file)
        rewrite(file, change=change)

        done = run(home, "restore", "--replace", str(file), **variables)

        assert done.returncode == 1, name
        assert said in done.stderr
        assert "Nothing was changed." in done.stderr
        assert "Traceback" not in done.stderr

    assert run(home, "user", "list", "--json", **variables).stdout == before


def run_openly(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command under a umask that would let everybody read its files."""
    return subprocess.run(
        [sys.executable, "-m", "deltaweb", *arguments],
        env=environment(home, **VARIABLES),
        cwd=ROOT,
        umask=0,
        capture_output=True,
        text=True,
        check=False,
    )


def mode_of(file: Path) -> int:
    return file.stat().st_mode & 0o777


def test_files_are_closed_to_others_under_any_umask(
    source: Path, plain: Path, tmp_path: Path
) -> None:
    file, home = tmp_path / "open.backup", new_home(tmp_path / "home")
    database = home / "deltaweb.sqlite3"
    made = run_openly(source, "backup", "--plain", str(file))
    assert made.returncode == 0, made.stderr
    assert mode_of(file) == 0o600

    for is_there in (False, True):
        if is_there:
            database.chmod(0o644)
        done = run_openly(home, "restore", "--replace", str(plain))

        assert done.returncode == 0, done.stderr
        assert mode_of(database) == 0o600
        files = [one for one in home.rglob("*") if one.is_file()]
        assert [one for one in files if mode_of(one) & 0o077] == []


def test_a_backup_replaces_no_file(source: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.txt"
    file.write_text("kept")
    file.chmod(0o644)

    done = run_openly(source, "backup", "--plain", str(file))

    assert done.returncode == 1
    assert "a backup replaces no file" in done.stderr
    assert (file.read_text(), mode_of(file)) == ("kept", 0o644)
    assert [*tmp_path.iterdir()] == [file]
