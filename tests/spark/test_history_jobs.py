"""The history of a table over its life: each time the job finds another log."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.test import Client

from apps.tables.index.folders import remove_other_indexes
from apps.tables.index.jobs import IndexBatch
from apps.tables.index.refresh import REFRESH, refresh_table
from apps.tables.models import Table
from tests.support.logs.dated_log import START_S, DatedLog
from tests.support.pages.factories import NOW, new_unindexed_table, new_user

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("spark", "home"),
]


@pytest.fixture
def log(tmp_path: Path) -> DatedLog:
    """Ten versions with a checkpoint of the seventh."""
    log = DatedLog(tmp_path / "lake").write(0, 9)
    log.checkpoint(6, *log.definition())
    return log


@pytest.fixture
def table(log: DatedLog) -> Table:
    return new_unindexed_table("orders", location=log.location)


def run(table: Table) -> None:
    job = refresh_table(table, now=NOW)
    REFRESH.work(job.id)
    job.refresh_from_db()
    assert (job.state, job.error) == ("DONE", "")
    table.refresh_from_db()


def clean_up(log: DatedLog) -> None:
    """Let a month and more go by and clean the log as its table asks for."""
    later = datetime.fromtimestamp(START_S, UTC) + timedelta(days=32)
    cleaned = log.table.clean_up_log(now=later)
    assert cleaned.checkpoint_version == 6


class TestIndexLog:
    def test_keeps_the_history_that_a_clean_up_takes_and_adds_to_it(
        self, log: DatedLog, table: Table, client: Client
    ) -> None:
        client.force_login(new_user("vera"))
        run(table)
        rows = dict(table.commits.values_list("version", "id"))
        clean_up(log)
        run(table)
        log.write(10, 12)

        run(table)

        data = json.loads(client.get("/t/default/orders/history.json").content)
        shown = {row["version"]: row for row in data["commits"]}
        assert data["count"] == 13
        assert [v for v, row in shown.items() if row["archived"]] == [*range(5, -1, -1)]
        assert {row["readability"] for row in shown.values() if row["archived"]} == {
            "GONE"
        }
        assert shown[2]["user"] == "etl"
        assert rows.items() <= dict(table.commits.values_list("version", "id")).items()
        assert (table.version, table.num_files) == (12, 6)

    def test_reads_the_whole_log_where_another_worker_has_removed_the_base(
        self, log: DatedLog, table: Table, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run(table)
        log.write(10, 11)
        begin = IndexBatch.begin

        def begin_late(batch: IndexBatch, step: str) -> None:
            assert [job.base is not None for job in batch.jobs] == [True]
            remove_other_indexes(table.id, keep="the other worker's")
            begin(batch, step)

        monkeypatch.setattr(IndexBatch, "begin", begin_late)

        run(table)

        assert table.version == 11
        assert table.commits.count() == 12

    def test_goes_on_from_the_index_that_the_table_has(self, log, table):
        run(table)
        torn = log.log / f"{3:020d}.json"
        torn.write_bytes(b"not read again")
        log.write(10, 10)

        run(table)

        assert table.commits.get(version=3).operation == "WRITE"
        assert table.commits.count() == 11
