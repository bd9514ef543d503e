"""A store reads nothing at the places of other tables that are closed to it."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from deltaweb.delta.errors import DataFileElsewhereError, DataFileMissingError
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.local_file import SMALL_BYTES
from deltaweb.storage.remote import RemoteTableStore
from deltaweb.storage.spellings import ClosedPlaces
from tests.support import cases


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A closed table, one that is not, and a table with links to both."""
    for name in ("closed", "other", "table"):
        log = tmp_path / name / "_delta_log"
        (log / "_sidecars").mkdir(parents=True)
        (tmp_path / name / "part").write_bytes(b"rows")
        (tmp_path / name / "large").write_bytes(b"rows" * SMALL_BYTES)
        (log / "0.json").write_bytes(b"{}")
        (log / "_sidecars" / "s.parquet").write_bytes(b"files")
    for name in ("closed", "other"):
        (tmp_path / "table" / name).symlink_to(tmp_path / name)
        (tmp_path / "table" / f"{name}-part").symlink_to(tmp_path / name / "part")
    return tmp_path


def store_of(lake: Path, name: str = "table") -> LocalTableStore:
    closed = ClosedPlaces(lambda: [f"{lake}/closed"])
    return LocalTableStore(f"{lake}/{name}", [str(lake)], closed)


@cases(
    "path",
    {
        "a path": "{lake}/{name}/part",
        "a URL": "file://{lake}/{name}/part",
        "a path with dots": "{lake}/x/../{name}/part",
        "an escape": "{lake}/%{first:x}{rest}/part",
        "a large file": "{lake}/{name}/large",
        "out of the table": "../{name}/part",
        "a link to the folder": "{name}/part",
        "a link to the file": "{name}-part",
        "a link to the folder from elsewhere": "{lake}/table/{name}/part",
        "its log": "{lake}/{name}/_delta_log/0.json",
    },
)
def test_a_data_file_in_a_closed_folder_is_as_one_that_is_missing(
    lake: Path, path: str
) -> None:
    def written(name: str) -> str:
        return path.format(lake=lake, name=name, first=ord(name[0]), rest=name[1:])

    (lake / "table" / "absent").symlink_to(lake / "absent")
    (lake / "table" / "absent-part").symlink_to(lake / "absent" / "part")
    store = store_of(lake)

    assert store.open_data_file(written("other")).read()[:4] in {b"rows", b"{}"}
    for name in ("closed", "absent"):
        assert not store.has_data_file(written(name))
        with pytest.raises(DataFileElsewhereError) as caught:
            store.open_data_file(written(name))
        assert caught.value.message == (
            f"The data file {written(name)} cannot be read: {caught.value.reason}."
        )


def test_a_file_that_the_table_itself_lacks_is_missing_as_before(lake: Path) -> None:
    with pytest.raises(DataFileMissingError) as caught:
        store_of(lake).open_data_file("none")

    assert type(caught.value) is DataFileMissingError


def test_a_closed_folder_below_a_link_is_not_listed(lake: Path) -> None:
    store = store_of(lake)

    names = {name for names in store.list_data_files() for name in names.to_pylist()}

    assert {"part", "large", "other/part"} <= names
    assert not [name for name in names if name.startswith("closed/")]


def test_nothing_is_written_into_a_closed_folder(lake: Path) -> None:
    for write in (
        store_of(lake).begin_data_file,
        lambda path: store_of(lake).put_data_file(path, b"x"),
    ):
        with pytest.raises(DataFileElsewhereError):
            write("closed/new")

    assert not (lake / "closed" / "new").exists()


READS: dict[str, tuple[Callable[[LocalTableStore], Any], object]] = {
    "names": (lambda store: store.list_names_from(""), []),
    "statuses": (lambda store: store.list_from(""), []),
    "sidecars": (lambda store: store.list_sidecars(), []),
    "a file": (lambda store: store.read("0.json"), FileNotFoundError),
    "its head": (lambda store: store.read_head("0.json", 1), FileNotFoundError),
    "its status": (lambda store: store.status("0.json"), FileNotFoundError),
    "a checkpoint": (lambda store: store.open_input("0.json"), FileNotFoundError),
    "data": (lambda store: store.open_data_file("part"), DataFileMissingError),
    "whether it is there": (lambda store: store.has_data_file("part"), False),
    "a listing": (lambda store: [*store.list_data_files()], []),
    "sizes": (lambda store: [*store.list_data_statuses()], []),
}


@cases("read, found", READS)
def test_a_folder_that_has_become_a_link_to_a_closed_one_is_empty(
    lake: Path, read: Callable[[LocalTableStore], Any], found: object
) -> None:
    (lake / "swapped").symlink_to(lake / "closed")
    store = store_of(lake, "swapped")

    if isinstance(found, type):
        with pytest.raises(found):
            read(store)
    else:
        assert read(store) == found
    assert not store.root_exists()
    assert read(store_of(lake, "other")) not in ([], False)


@cases("read, found", {name: READS[name] for name in list(READS)[:7]})
def test_a_log_that_has_become_a_link_to_a_closed_one_is_empty(
    lake: Path, read: Callable[[LocalTableStore], Any], found: object
) -> None:
    (lake / "borrowed").mkdir()
    (lake / "borrowed" / "_delta_log").symlink_to(lake / "closed" / "_delta_log")

    if isinstance(found, type):
        with pytest.raises(found):
            read(store_of(lake, "borrowed"))
    else:
        assert read(store_of(lake, "borrowed")) == found


def test_a_file_of_the_log_that_is_a_link_to_a_closed_one_is_missing(
    lake: Path,
) -> None:
    log = lake / "table" / "_delta_log"
    (log / "1.json").symlink_to(lake / "closed" / "_delta_log" / "0.json")

    for read in (LocalTableStore.read, LocalTableStore.open_input):
        with pytest.raises(FileNotFoundError):
            read(store_of(lake), "1.json")


def test_a_folder_that_is_swapped_after_it_was_opened_is_not_followed(
    lake: Path,
) -> None:
    store = store_of(lake, "other")
    assert store.open_data_file("part").read() == b"rows"

    os.rename(lake / "other", lake / "moved")  # noqa: PTH104  # names of strings
    (lake / "other").symlink_to(lake / "closed")

    with pytest.raises(DataFileMissingError):
        store.open_data_file("part")


def test_places_are_looked_up_for_a_place_outside_alone(lake: Path) -> None:
    asked: list[str] = []

    def find() -> list[str]:
        asked.append("once")
        return [f"{lake}/closed"]

    closed = ClosedPlaces(find)
    store = LocalTableStore(f"{lake}/table", [str(lake)], closed)

    store.list_from("")
    store.read("0.json")
    store.open_data_file("part")
    assert not asked

    for _ in range(2):
        store.has_data_file(f"{lake}/closed/part")
    assert len(asked) == 1


def test_they_travel_to_other_processes(lake: Path) -> None:
    there = pickle.loads(pickle.dumps(ClosedPlaces(lambda: [f"{lake}/closed"])))  # noqa: S301  # our own

    for closed in (there, pickle.loads(pickle.dumps(there))):  # noqa: S301  # as above
        assert closed.contains(f"{lake}/closed/part")
        assert not closed.contains(f"{lake}/other/part")


@cases(
    "path",
    {
        "a URL": "memory://{lake}/{name}/part",
        "dots": "memory://{lake}/x/../{name}/part",
        "a slash more": "memory://{lake}//{name}/part",
        "out of the table": "../{name}/part",
    },
)
def test_an_object_in_a_closed_place_is_as_one_that_is_missing(path: str) -> None:
    lake = f"lake-{uuid4().hex}"
    closed = ClosedPlaces(lambda: [f"memory://{lake}/closed"])
    for name in ("closed", "other"):
        RemoteTableStore(f"memory://{lake}/{name}", {}).put_data_file("part", b"rows")
    store = RemoteTableStore(f"memory://{lake}/table", {}, [f"memory://{lake}"], closed)

    assert store.open_data_file(path.format(lake=lake, name="other")).read() == b"rows"
    for name in ("closed", "absent"):
        assert not store.has_data_file(path.format(lake=lake, name=name))
        with pytest.raises(DataFileElsewhereError):
            store.open_data_file(path.format(lake=lake, name=name))
