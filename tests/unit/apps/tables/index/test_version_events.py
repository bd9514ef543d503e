"""Each version of a table is reported once, in its order."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from apps.notices.events.publisher import publish_events
from apps.notices.models import Event
from apps.tables.index.folders import indexes_folder
from apps.tables.models import Table
from deltaweb.delta.log.paths import commit_name
from tests.support.index.indexed_tables import index_table, new_indexed_table
from tests.support.logs.dated_log import START_S, DatedLog
from tests.support.logs.delta_logs import metadata
from tests.support.pages.factories import new_unindexed_table

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.database,
    pytest.mark.usefixtures("home"),
]


@pytest.fixture
def log(tmp_path: Path) -> DatedLog:
    """Three versions."""
    return DatedLog(tmp_path / "lake").write(0, 2)


@pytest.fixture
def table(log: DatedLog) -> Table:
    return new_indexed_table("orders", Path(log.location))


def reported(kind: str = "table.version") -> list[object]:
    publish_events()
    found = Event.objects.filter(kind=kind).order_by("number")
    return [event.payload["version"] for event in found]


def payload(kind: str = "table.version") -> dict[str, object]:
    newest = Event.objects.filter(kind=kind).order_by("-id").first()
    assert newest is not None
    return newest.payload


@pytest.mark.usefixtures("table")
def test_the_first_index_reports_no_version_of_before() -> None:
    assert reported() == []


def test_versions_since_the_registration_are_reported_by_the_first_index(
    log: DatedLog,
) -> None:
    registered_at = datetime.fromtimestamp(START_S + 1, UTC)
    table = new_unindexed_table(location=log.location, created_at=registered_at)
    index_table(table)

    assert reported() == [1, 2]


def test_several_commits_are_reported_in_their_order(
    log: DatedLog, table: Table
) -> None:
    log.write(3, 6)
    index_table(table)

    assert reported() == [3, 4, 5, 6]


def test_a_version_is_reported_once(log: DatedLog, table: Table) -> None:
    log.write(3, 3)
    index_table(table)
    index_table(table)
    shutil.rmtree(indexes_folder() / str(table.id))
    index_table(table)

    assert reported() == [3]


def test_a_new_version_says_what_its_commit_did(log: DatedLog, table: Table) -> None:
    log.write(3, 3)
    index_table(table)

    found = payload()
    assert found["table"] == "orders"
    assert found["operation"] == "WRITE"
    assert (found["files_added"], found["files_removed"]) == (1, 0)
    assert (found["schema_changed"], found["breaking"]) == (False, False)
    assert found["log_replaced"] is False


def test_of_another_log_the_newest_version_is_reported(
    log: DatedLog, table: Table
) -> None:
    shutil.rmtree(log.folder)
    anew = DatedLog(log.folder, table_id="anew", writer="eve").write(0, 5)
    index_table(table)

    assert reported() == [5]
    assert payload()["log_replaced"] is True

    anew.write(6, 6)
    index_table(table)
    assert reported() == [5, 6]
    assert payload()["log_replaced"] is False


def test_a_log_that_has_lost_its_end_is_another_one(
    log: DatedLog, table: Table
) -> None:
    (log.log / commit_name(2)).unlink()
    index_table(table)
    log.commit(2, metadata(name="another"))
    index_table(table)

    assert reported() == [1, 2]


def test_a_copy_of_a_log_with_other_times_is_the_same_log(
    log: DatedLog, table: Table
) -> None:
    for path in log.log.iterdir():
        text = path.read_bytes()
        path.unlink()
        path.write_bytes(text)
    shutil.rmtree(indexes_folder() / str(table.id))
    log.write(3, 3)
    index_table(table)

    assert reported() == [3]


class TestASchemaChange:
    def test_is_reported_after_its_version(self, log: DatedLog, table: Table) -> None:
        log.commit(3, metadata(schemaString='{"type": "struct", "fields": []}'))
        log.write(4, 4)
        index_table(table)

        publish_events()
        found = Event.objects.order_by("number")
        assert [(event.kind, event.payload["version"]) for event in found] == [
            ("table.version", 3),
            ("table.schema", 3),
            ("table.version", 4),
        ]

    def test_names_the_columns_and_whether_readers_may_fail(
        self, log: DatedLog, table: Table
    ) -> None:
        log.commit(3, metadata(schemaString='{"type": "struct", "fields": []}'))
        index_table(table)

        found = payload("table.schema")
        assert found["breaking"] is True
        assert found["num_changes"] == 2
        changes = found["changes"]
        assert isinstance(changes, list)
        assert [(one["column"], one["change"]) for one in changes] == [
            ("id", "dropped"),
            ("p", "dropped"),
        ]
        assert payload()["breaking"] is True

    def test_that_cannot_be_compared_counts_as_breaking(
        self, log: DatedLog, table: Table
    ) -> None:
        log.commit(3, metadata(schemaString='{"type": "struct"}'))
        index_table(table)

        assert payload()["breaking"] is True
        assert payload("table.schema")["num_changes"] is None
