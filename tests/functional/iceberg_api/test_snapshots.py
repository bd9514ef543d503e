"""The operations of snapshots, and what readers of appended files get."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.manifest import ManifestContent, ManifestEntryStatus
from pyiceberg.table.snapshots import Snapshot

from apps.sharing.api.iceberg import snapshots
from apps.sharing.models import SharedTable
from apps.tables.models import Commit
from deltaweb.table import DeltaTable
from tests.functional.iceberg_api.reading import Loaded, load
from tests.functional.sharing_api.conftest import NewCaller
from tests.support import cases
from tests.support.index.indexed_tables import index_table
from tests.support.pages.factories import new_share, new_shared_table, new_table

EVENTS = "/v1/namespaces/log%1Fweb/tables/events"
VECTORS = {"delta.enableDeletionVectors": "true"}


def ids(*numbers: int) -> pa.Table:
    days = pa.array([0] * len(numbers), pa.int32())
    return pa.table({"id": pa.array(numbers, pa.int64()), "day": days})


class Shared:
    """A table that a share has whole, and a recipient of it."""

    def __init__(self, root: Path, new_caller: NewCaller, **properties: str) -> None:
        self.table = DeltaTable.create(str(root), ids().schema, properties=properties)
        table = new_table("web.events", location=str(root))
        self.shared = new_shared_table(new_share("Log"), "web.events", table=table)
        self.acme = new_caller("acme", self.shared.share)

    def share(self, **fields: Any) -> None:  # noqa: ANN401 (columns)
        SharedTable.objects.filter(id=self.shared.id).update(**fields)

    def index(self) -> None:
        index_table(self.shared.table)

    def load(self) -> "Loaded":
        return load(self.acme, EVENTS)

    def operations(self) -> list[tuple[int, str]]:
        return [(version_of(one), operation(one)) for one in snapshots_of(self.load())]


def snapshots_of(loaded: Loaded) -> Sequence[Snapshot]:
    return loaded.table.metadata.snapshots


def version_of(snapshot: Snapshot) -> int:
    assert snapshot.summary is not None
    return int(snapshot.summary["delta.version"] or "")


def operation(snapshot: Snapshot) -> str:
    assert snapshot.summary is not None
    return snapshot.summary.operation.value


def entries(loaded: Loaded, snapshot: Snapshot) -> list[Any]:
    """The entries of the data files of a snapshot."""
    io = loaded.table.io
    return [
        entry
        for manifest in snapshot.manifests(io)
        if manifest.content == ManifestContent.DATA
        for entry in manifest.fetch_manifest_entry(io)
    ]


def appended(loaded: Loaded, *, after: int | None, to: int) -> list[int]:
    """The ids that a reader of appended files gets between two versions."""
    known = {version_of(one): one for one in snapshots_of(loaded)}
    for snapshot in known.values():
        for entry in entries(loaded, snapshot):
            loaded.fetch(entry.data_file.file_path)  # not from threads of its own
    found = loaded.table.incremental_append_scan(
        from_snapshot_id_exclusive=None if after is None else known[after].snapshot_id,
        to_snapshot_id_inclusive=known[to].snapshot_id,
    )
    return sorted(found.to_arrow()["id"].to_pylist())


@pytest.fixture
def events(db: None, tmp_path: Path, new_caller: NewCaller) -> Shared:  # noqa: ARG001 (a database)
    """A table of a created version, and of two versions that only added files."""
    events = Shared(tmp_path / "lake" / "events", new_caller)
    events.table.append(ids(1, 2))
    events.table.append(ids(3, 4, 5))
    events.index()
    return events


def test_commits_have_the_operation_of_what_they_did(events: Shared) -> None:
    events.table.optimize()
    events.table.set_properties({"some.key": "1"})
    events.table.update({"day": "1"}, "id = 1")
    events.table.append(ids(6))
    events.table.delete("id = 6")
    events.index()

    assert events.operations() == [
        (0, "replace"),
        (1, "append"),
        (2, "append"),
        (3, "replace"),
        (4, "replace"),
        (5, "overwrite"),
        (6, "append"),
        (7, "delete"),
    ]


def test_a_reader_of_appended_files_gets_each_row_once(events: Shared) -> None:
    events.table.optimize()
    events.table.append(ids(6))
    events.index()

    loaded = events.load()

    assert appended(loaded, after=None, to=4) == [1, 2, 3, 4, 5, 6]
    assert appended(loaded, after=1, to=2) == [3, 4, 5]
    assert appended(loaded, after=2, to=4) == [6]


@cases("is_indexed", {"indexed": True, "not yet": False})
def test_counts_are_those_of_the_manifests(events: Shared, is_indexed) -> None:
    events.table.append(ids(6))
    if is_indexed:
        events.index()

    loaded = events.load()

    for snapshot in snapshots_of(loaded)[1:]:
        assert snapshot.summary is not None
        found = entries(loaded, snapshot)
        added = [one for one in found if one.status == ManifestEntryStatus.ADDED]
        older = [one for one in found if one.status == ManifestEntryStatus.EXISTING]
        assert {one.snapshot_id for one in added} == {snapshot.snapshot_id}
        assert {one.snapshot_id for one in older} <= {snapshot.parent_snapshot_id}
        assert len(added) == 1
        assert snapshot.summary["added-data-files"] == "1"
        assert snapshot.summary["total-data-files"] == str(len(found))
        rows = {"added-records": added, "total-records": found}
        for name, counted in rows.items():
            total = sum(one.data_file.record_count for one in counted)
            assert snapshot.summary[name] == str(total)
        manifests = snapshot.manifests(loaded.table.io)
        assert sum(one.added_files_count or 0 for one in manifests) == len(added)
        assert sum(one.existing_files_count or 0 for one in manifests) == len(older)
        total = sum(one.existing_rows_count or 0 for one in manifests)
        assert total == sum(one.data_file.record_count for one in older)


def test_versions_that_are_not_indexed_yet_are_snapshots(events: Shared) -> None:
    events.table.append(ids(6))
    events.table.append(ids(7))
    events.table.append(ids(8))

    loaded = events.load()

    assert [version_of(one) for one in snapshots_of(loaded)] == [0, 1, 2, 3, 4, 5]
    assert appended(loaded, after=2, to=5) == [6, 7, 8]
    before = loaded.metadata["snapshots"]
    events.index()
    after = events.load().metadata["snapshots"]
    assert {one["manifest-list"] for one in before} == {
        one["manifest-list"] for one in after
    }


def test_a_version_before_another_definition_is_left_out_until_it_is_indexed(events):
    events.table.append(ids(6))
    events.table.add_columns([("note", "STRING")])
    events.table.append(ids(7))

    found = events.operations()

    assert found[-2:] == [(4, "overwrite"), (5, "append")]
    events.index()
    assert events.operations()[-3:] == [(3, "append"), (4, "replace"), (5, "append")]


def test_after_many_versions_that_are_not_indexed_the_newest_is_an_overwrite(
    events: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "MAX_UNINDEXED", 1)
    events.table.append(ids(6))
    assert events.operations()[-1] == (3, "append")

    events.table.append(ids(7))

    assert events.operations()[-2:] == [(2, "append"), (4, "overwrite")]


@cases(
    "fields, expected",
    {
        "since a version": (
            {"start_version": 1},
            [(1, "overwrite"), (2, "append")],
        ),
        "the newest alone": ({"with_history": False}, [(2, "overwrite")]),
        "a part": ({"condition": "id < 100"}, [(2, "overwrite")]),
    },
)
def test_the_first_version_that_is_shared_is_an_overwrite(events, fields, expected):
    events.share(**fields)

    assert events.operations() == expected
    loaded = events.load()
    statuses = {one.status for one in entries(loaded, snapshots_of(loaded)[0])}
    assert statuses == {ManifestEntryStatus.EXISTING}


def test_the_first_of_the_newest_versions_is_an_overwrite(events, monkeypatch):
    monkeypatch.setattr(snapshots, "MAX_VERSIONS", 1)
    assert events.operations() == [(2, "overwrite")]
    monkeypatch.setattr(snapshots, "MAX_VERSIONS", 2)
    assert events.operations() == [(1, "overwrite"), (2, "append")]


@cases(
    "change",
    {
        "its files are gone": {"readability": Commit.Readability.PARTLY},
        "its commit is gone": {"is_archived": True},
        "its files were not counted": {"num_files": None},
    },
)
def test_a_version_after_one_that_is_gone_is_an_overwrite(events: Shared, change):
    events.table.append(ids(6))
    events.index()
    Commit.objects.filter(version=2).update(**change)

    assert dict(events.operations())[3] == "overwrite"


def test_a_file_that_is_added_again_is_not_appended(events: Shared) -> None:
    log = Path(events.table.store.root) / "_delta_log"
    text = (log / f"{2:020}.json").read_text()
    (log / f"{3:020}.json").write_text(text)
    assert events.operations()[-1] == (3, "overwrite")

    events.index()

    assert events.operations()[-1] == (3, "overwrite")


def test_a_table_of_one_version_of_rows_is_appended(events, tmp_path, new_caller):
    del events
    root = tmp_path / "lake" / "first"
    DeltaTable.create(str(root), ids(1, 2).schema).append(ids(1, 2))
    log = root / "_delta_log"
    first = (log / f"{0:020}.json").read_text() + (log / f"{1:020}.json").read_text()
    (log / f"{1:020}.json").unlink()
    infos = [line for line in first.splitlines() if '"commitInfo"' not in line]
    (log / f"{0:020}.json").write_text("\n".join(infos) + "\n")
    table = new_table("web.first", location=str(root))
    share = new_share("First")
    shared = new_shared_table(share, "web.first", table=table)
    caller = new_caller("first", share)

    for is_indexed in (False, True):
        if is_indexed:
            index_table(shared.table)
        loaded = load(caller, "/v1/namespaces/first%1Fweb/tables/first")
        (snapshot,) = snapshots_of(loaded)
        assert operation(snapshot) == "append"
        (entry,) = entries(loaded, snapshot)
        assert entry.status == ManifestEntryStatus.ADDED
        assert snapshot.summary is not None
        assert snapshot.summary["added-records"] == "2"


class TestDeletionVectors:
    @pytest.fixture
    def events(self, db: None, tmp_path: Path, new_caller: NewCaller) -> Shared:  # noqa: ARG002 (a database)
        events = Shared(tmp_path / "lake" / "events", new_caller, **VECTORS)
        events.table.append(ids(1, 2, 3))
        events.table.append(ids(4, 5))
        events.table.delete("id = 2")
        events.table.append(ids(6))
        return events

    @cases("is_indexed", {"indexed": True, "not yet": False})
    def test_rows_are_appended_beside_vectors(self, events: Shared, is_indexed) -> None:
        if is_indexed:
            events.index()

        found = events.operations()

        if is_indexed:
            assert [one for _, one in found][1:] == [
                *("append", "append", "overwrite", "append")
            ]
        loaded = events.load()
        assert [row["id"] for row in loaded.rows()] == [1, 3, 4, 5, 6]
        if is_indexed:
            assert appended(loaded, after=3, to=4) == [6]
            assert appended(loaded, after=None, to=4) == [1, 2, 3, 4, 5, 6]
        newest = snapshots_of(loaded)[-1]
        assert newest.summary is not None
        assert newest.summary["total-records"] == "6"

    def test_a_file_that_comes_with_a_vector_is_not_appended(self, events: Shared):
        # Restoring adds the file with its vector again, and removes none.
        events.table.delete("true")
        log = Path(events.table.store.root) / "_delta_log"
        adds = [
            line
            for line in (log / f"{3:020}.json").read_text().splitlines()
            if line.startswith('{"add"')
        ]
        (log / f"{6:020}.json").write_text("\n".join(adds) + "\n")
        events.index()

        found = dict(events.operations())

        assert (found[4], found[6]) == ("append", "overwrite")

    def test_a_version_whose_commit_is_gone_is_not_appended(self, events: Shared):
        events.index()
        events.table.create_checkpoint()
        log = Path(events.table.store.root) / "_delta_log"
        (log / f"{1:020}.json").unlink()

        found = dict(events.operations())

        assert (found[1], found[3]) == ("overwrite", "overwrite")
