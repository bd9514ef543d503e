import json
from pathlib import Path

import pytest

from apps.explorer.commit.actions import commit_actions
from apps.explorer.commit.selector import commit_page, metric
from apps.pages.errors import PageError
from apps.tables.models import Commit, Table
from tests.support import cases
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_protocol,
    new_table,
    new_user,
)

ACTIONS = [
    {"commitInfo": {"operation": "WRITE"}},
    {
        "add": {
            "path": "country=DE/a.parquet",
            "partitionValues": {"country": "DE"},
            "size": 10,
            "modificationTime": 1,
            "dataChange": True,
            "stats": '{"numRecords": 3}',
        }
    },
    {"remove": {"path": "b.parquet", "dataChange": False}},
    {"add": {"path": "c.parquet", "size": "many", "stats": "{"}},
    {"unheard": {"of": 1}},
]


def lake(folder: Path, *actions: object) -> str:
    log = folder / "_delta_log"
    log.mkdir()
    lines = "".join(f"{json.dumps(action)}\n" for action in actions)
    (log / f"{0:020d}.json").write_text(lines)
    return str(folder)


class TestMetric:
    @cases(
        "name, value, label, shown",
        {
            "a count": ("numOutputRows", "1234", "Output rows", "1,234"),
            "s": ("executionTimeMs", "44123", "Execution time", "44 s"),
            "with underscores": ("num_added_rows", 10, "Added rows", "10"),
            "ms": ("execution_time_ms", 7, "Execution time", "7 ms"),
            "a word that begins alike": ("numbers", 3, "Numbers", "3"),
            "minutes": ("scanTimeMs", 90_500, "Scan time", "1 min 30 s"),
            "any JSON": ("mine", {"a": 1}, "Mine", '{"a": 1}'),
            "a huge number": ("mine", "9" * 40, "Mine", "9" * 40),
        },
    )
    def test_has_a_name_and_a_unit(self, name, value, label, shown):
        found = metric(name, value)

        assert (found.label, found.value) == (label, shown)

    def test_bytes_are_a_size(self) -> None:
        assert metric("numTargetBytesAdded", "2048").size_bytes == 2048


class TestCommitActions:
    def test_reads_the_files_of_one_commit(self, tmp_path: Path) -> None:
        table = new_table_at(lake(tmp_path, *ACTIONS))

        actions = commit_actions(table, Commit(version=0))

        assert [(f.path, f.size_bytes, f.num_records) for f in actions.added] == [
            ("country=DE/a.parquet", 10, 3),
            ("c.parquet", None, None),
        ]
        assert [(f.path, f.data_change) for f in actions.removed] == [
            ("b.parquet", False)
        ]
        assert actions.partitions == [("country=DE", 1, 0)]
        assert len(actions.raw) == 5

    def test_storage_that_is_gone_is_told(self, tmp_path: Path) -> None:
        table = new_table_at(str(tmp_path / "nowhere"))

        actions = commit_actions(table, Commit(version=0))

        assert actions.problem
        assert actions.raw == ()

    def test_storage_is_not_asked_for_what_the_log_has_lost(self, tmp_path: Path):
        table = new_table_at(lake(tmp_path, *ACTIONS))

        actions = commit_actions(table, Commit(version=0, is_archived=True))

        assert actions.raw == ()
        assert "cleaned" in actions.problem

    def test_only_the_first_actions_are_shown(self, tmp_path: Path) -> None:
        many = [{"txn": {"appId": "x" * 9000, "version": n}} for n in range(60)]

        table = new_table_at(lake(tmp_path, *many))

        actions = commit_actions(table, Commit(version=0))

        assert len(actions.shown) == 50
        assert actions.num_hidden == 10
        assert len(actions.shown[0]) < 4100


def new_table_at(location: str) -> Table:
    return Table(location=location)


@pytest.mark.django_db
class TestCommitDetail:
    def test_tells_what_changed_of_the_table(self) -> None:
        table = new_table(location="/nowhere")
        new_commit(table, 0, changes_metadata=True, changes_protocol=True)
        new_commit(table, 1)
        new_commit(table, 2, changes_metadata=True, parameters={"predicate": "a = 1"})
        new_metadata(table, 0, configuration={"a": "1", "b": "2"})
        new_metadata(table, 2, configuration={"a": "3"}, schema_string=SCHEMA)
        new_protocol(table, 0)

        page = commit_page(new_user(), "default", "orders", 2)

        assert [(c.subject, c.name, c.kind) for c in page.changes] == [
            ("column", "id", "changed"),
            ("column", "note", "removed"),
            ("column", "city", "added"),
            ("property", "a", "changed"),
            ("property", "b", "removed"),
        ]
        assert (page.previous_version, page.next_version) == (1, None)
        assert page.predicate == "a = 1"

    def test_the_first_commit_sets_everything(self) -> None:
        table = new_table(location="/nowhere")
        new_commit(table, 0, changes_metadata=True, changes_protocol=True)
        new_metadata(table, 0)
        new_protocol(table, 0, reader_features=["x"], writer_features=["x", "y"])

        page = commit_page(new_user(), "default", "orders", 0)

        assert {change.kind for change in page.changes} == {"added"}
        features = {c.name: c.after for c in page.changes if c.subject == "feature"}
        assert features == {"x": "to read and write", "y": "to write"}

    def test_a_commit_that_the_log_no_longer_holds_is_a_404(self) -> None:
        new_table()
        user = new_user()

        with pytest.raises(PageError, match="no longer holds"):
            commit_page(user, "default", "orders", 1)


SCHEMA = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": "id", "type": "long", "nullable": False, "metadata": {}},
            {"name": "city", "type": "string", "nullable": True, "metadata": {}},
        ],
    }
)
