"""The files that commits add."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import LogCorruptError, LogFileGoneError
from deltaweb.delta.log.commits.added_files import (
    read_added_paths,
    versions_that_add_vectors,
)
from deltaweb.storage.local import LocalTableStore

VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "vBn[lx{q8@P<9BNH/isA",
    "offset": 1,
    "sizeInBytes": 36,
    "cardinality": 2,
}


def action(kind: str, path: str, **changed: object) -> dict[str, Any]:
    said = {"path": path, "size": 1, "partitionValues": {}, "dataChange": True}
    return {kind: said | {"modificationTime": 0} | changed}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "_delta_log"
    folder.mkdir()
    return folder


def write(log: Path, version: int, *actions: dict[str, Any]) -> None:
    lines = "".join(f"{json.dumps(one)}\n" for one in actions)
    (log / f"{version:020}.json").write_text(lines)


def test_paths_are_those_that_were_added(log: Path) -> None:
    write(log, 3, action("add", "a%20b"), action("remove", "c"), action("add", "/d"))

    found = read_added_paths(LocalTableStore(str(log.parent)), 3)

    asked = pa.array(["a%20b", "c", "file:///d", "a b"])
    assert found.contains(asked).to_pylist() == [True, False, True, False]


def test_a_commit_that_does_not_read_names_itself(log: Path) -> None:
    (log / f"{3:020}.json").write_text("{")

    with pytest.raises(LogCorruptError, match=r"3\.json"):
        read_added_paths(LocalTableStore(str(log.parent)), 3)
    with pytest.raises(LogFileGoneError):
        read_added_paths(LocalTableStore(str(log.parent)), 4)


def test_commits_that_add_a_file_with_a_vector_are_found(log: Path) -> None:
    write(log, 0, action("add", "a"))
    write(log, 1, action("remove", "a", deletionVector=VECTOR), action("add", "b"))
    write(log, 2, action("add", "c"), action("add", "d", deletionVector=VECTOR))
    (log / f"{3:020}.json").write_text("{")
    write(log, 4, action("add", "e", deletionVector=VECTOR))

    store = LocalTableStore(str(log.parent))

    assert versions_that_add_vectors(store, [0, 1, 2, 3]) == {2, 3}
    assert versions_that_add_vectors(store, []) == set()
    with pytest.raises(LogFileGoneError):
        versions_that_add_vectors(store, [5])
