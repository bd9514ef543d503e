"""A name of a local disk is taken once, also where the disk has no links."""

import errno
import os
from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationDeniedError, StorageFullError
from deltaweb.delta.writing.errors import StoreNotWritableError
from deltaweb.storage import local_names
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.local_names import rename_if_absent, take_name


def fail(code: int) -> object:
    def call(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    return call


@pytest.fixture(params=["link", "rename"])
def store(request, tmp_path, monkeypatch):
    if request.param == "rename":
        monkeypatch.setattr(os, "link", fail(errno.EPERM))
    return LocalTableStore(str(tmp_path / "table"))


def test_a_name_is_taken_once(store: LocalTableStore) -> None:
    store.put_if_absent("a", b"first")

    with pytest.raises(FileExistsError):
        store.put_if_absent("a", b"second")

    assert store.read("a") == b"first"
    assert store.list_names_from("") == ["a"]


def test_bytes_that_come_late_are_not_written_again(store, monkeypatch):
    for name in ("a", "b"):
        store.put_if_absent(name, b"first")
    synced: list[int] = []
    sync = os.fsync

    def count(handle: int) -> None:
        synced.append(handle)
        sync(handle)

    monkeypatch.setattr(os, "fsync", count)

    with store.repeated_put() as put_if_absent:
        for name in ("a", "b"):
            with pytest.raises(FileExistsError):
                put_if_absent(name, b"second")
        assert len(synced) == 1
        put_if_absent("c", b"second")

    assert len(synced) == 2  # of the file, and of the folder that has its name
    assert store.read("c") == b"second"
    assert store.list_names_from("") == ["a", "b", "c"]


def test_a_file_is_as_old_as_its_name(store: LocalTableStore, tmp_path: Path) -> None:
    store.put_if_absent("a", b"first")
    with store.repeated_put() as put_if_absent:
        with pytest.raises(FileExistsError):
            put_if_absent("a", b"second")
        (written,) = tmp_path.glob("table/_delta_log/.a.*.tmp")
        os.utime(written, (0, 0))

        put_if_absent("b", b"second")

    (lost_to,) = (file for file in store.list_from("a") if file.name == "a")
    assert store.status("b").modification_time >= lost_to.modification_time


def test_bytes_that_change_with_the_name_are(store: LocalTableStore) -> None:
    store.put_if_absent("a", b"first")
    store.put_if_absent("b", b"first")

    with store.repeated_put() as put_if_absent:
        for name in ("a", "b"):
            with pytest.raises(FileExistsError):
                put_if_absent(name, name.encode())
        put_if_absent("c", b"c")
        with pytest.raises(FileExistsError):
            put_if_absent("c", b"c")

    assert store.read("c") == b"c"
    assert store.list_names_from("") == ["a", "b", "c"]


def test_a_rename_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")

    with pytest.raises(FileExistsError):
        rename_if_absent(str(tmp_path / "new"), str(tmp_path / "old"))
    rename_if_absent(str(tmp_path / "new"), str(tmp_path / "free"))

    assert (tmp_path / "old").read_text() == "old"
    assert (tmp_path / "free").read_text() == "new"
    assert not (tmp_path / "new").exists()


def test_a_disk_without_either_is_read_only(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "link", fail(errno.EPERM))
    monkeypatch.setattr(local_names, "_libc", object())
    store = LocalTableStore(str(tmp_path / "table"))

    with pytest.raises(StoreNotWritableError, match="only where none is"):
        store.put_if_absent("a", b"first")

    assert store.list_names_from("") == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [(errno.ENOSPC, StorageFullError), (errno.EACCES, LocationDeniedError)],
)
def test_a_fault_of_the_disk_is_told(tmp_path, monkeypatch, code, kind):
    (tmp_path / "new").write_text("new")
    monkeypatch.setattr(os, "link", fail(code))

    with pytest.raises(kind):
        take_name(str(tmp_path / "new"), str(tmp_path / "a"))
