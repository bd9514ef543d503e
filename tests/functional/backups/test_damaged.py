"""A damaged SQLite file is replaced by a backup, and kept."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.functional.backups.documents import WORDS, new_home
from tests.support.processes.installation import run

PAGE = 4096


def no_header(data: bytes) -> bytes:
    return b"x" * PAGE + data[PAGE:]


def no_middle(data: bytes) -> bytes:
    return data[:PAGE] + b"y" * (len(data) - 2 * PAGE) + data[-PAGE:]


def cut_off(data: bytes) -> bytes:
    return data[: 2 * PAGE]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = new_home(tmp_path / "home")
    assert run(home, "user", "add", "lost", "--role", "admin").returncode == 0
    return home


@pytest.mark.parametrize("damage", [no_header, no_middle, cut_off])
def test_a_damaged_database_is_replaced_and_kept(
    home: Path, backup: Path, damage: Callable[[bytes], bytes]
) -> None:
    live, kept = home / "deltaweb.sqlite3", home / "deltaweb.sqlite3.damaged"
    damaged = damage(live.read_bytes())
    live.write_bytes(damaged)

    refused = run(home, "restore", str(backup), **WORDS)
    restored = run(home, "restore", "--replace", str(backup), **WORDS)

    assert refused.returncode == 1
    assert f"The database {live} is damaged" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert restored.returncode == 0, restored.stderr
    assert f"The damaged database is kept as {kept}" in restored.stdout
    assert kept.read_bytes() == damaged
    assert live.stat().st_mode & 0o777 == 0o600
    assert "ada" in run(home, "user", "list").stdout


def test_a_second_damaged_file_does_not_replace_the_first(
    home: Path, backup: Path
) -> None:
    live = home / "deltaweb.sqlite3"
    for name in ("deltaweb.sqlite3.damaged", "deltaweb.sqlite3.damaged-2"):
        live.write_bytes(name.encode() * PAGE)
        assert run(home, "restore", "--replace", str(backup), **WORDS).returncode == 0
        assert (home / name).read_bytes() == name.encode() * PAGE


def test_a_backup_that_cannot_be_restored_leaves_the_damaged_file(
    home: Path, backup: Path, tmp_path: Path
) -> None:
    live = home / "deltaweb.sqlite3"
    live.write_bytes(no_header(live.read_bytes()))
    before = live.read_bytes()
    cut = tmp_path / "cut.backup"
    cut.write_bytes(backup.read_bytes()[:-1])

    refused = run(home, "restore", "--replace", str(cut), **WORDS)

    assert refused.returncode == 1
    assert "Nothing was changed" in refused.stderr
    assert live.read_bytes() == before
    assert not (home / "deltaweb.sqlite3.damaged").exists()


def test_webhooks_of_another_secret_key_are_named(tmp_path: Path) -> None:
    source, file = new_home(tmp_path / "source"), tmp_path / "all.backup"
    for line in (
        ("user", "add", "tom", "--role", "admin"),
        ("webhook", "add", "https://ci.example.org/hook", "--user", "tom"),
        ("backup", "--plain", str(file)),
    ):
        done = run(source, *line)
        assert done.returncode == 0, done.stderr
    same = {"DELTAWEB_SECRET_KEY": (source / "secret-key").read_text().strip()}

    other = run(new_home(tmp_path / "other"), "restore", str(file))
    alike = run(new_home(tmp_path / "alike"), "restore", str(file), **same)

    assert "The signatures of 1 webhook are wrong" in other.stdout
    assert (
        "Make a new secret for each"
        in run(tmp_path / "other", "restored", "show").stdout
    )
    assert alike.returncode == 0, alike.stderr
    assert "signatures" not in alike.stdout
