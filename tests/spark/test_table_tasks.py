"""Tasks share the tables of a run by what its folder says; no Spark is needed here."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaweb.index.folder.file_index import open_files
from deltaweb.storage.place import TablePlace

if TYPE_CHECKING:
    from deltaweb.spark.run_folder import RunFolder
    from deltaweb.spark.table_tasks import Share


@pytest.fixture
def folder(tmp_path: Path) -> "RunFolder":
    from deltaweb.spark.run_folder import RunFolder

    (tmp_path / "run").mkdir()
    return RunFolder(tmp_path / "run")


def share_of(folder: "RunFolder", lake: Path, *, num_tables: int, num_tasks: int = 2):
    from deltaweb.spark.table_tasks import IndexRequest, Share

    requests = {
        position: IndexRequest(
            place=TablePlace(str(lake / "orders")),
            folder=str(folder.path.parent / "index" / str(position)),
        )
        for position in range(num_tables)
    }
    return Share(requests, folder, folder.begin_claims(), num_tasks)


def run(share: "Share", number: int) -> dict[int, dict[str, Any]]:
    return dict(share.index_tables([number]))


class TestIndexTables:
    def test_takes_what_no_other_task_has(self, folder, lake, tmp_path):
        share = share_of(folder, lake, num_tables=4)
        assert share.claims.claim(1)

        assert run(share, 0) == run(share, 1) == {}

        results = folder.take_results()
        assert list(results) == [0, 2, 3]
        assert {result["state"] for result in results.values()} == {"INDEXED"}
        for position in results:
            assert open_files(tmp_path / "index" / str(position)).num_rows > 0

    def test_takes_no_table_from_the_next_job_when_its_own_has_ended(
        self, folder: "RunFolder", lake: Path, tmp_path: Path
    ) -> None:
        share = share_of(folder, lake, num_tables=3)
        assert share.claims.claim(1)  # by a task that takes its Python worker down
        assert share.claims.end() == {1}
        again = replace(share, claims=folder.begin_claims())

        assert run(share, 0) == {}

        assert not (tmp_path / "index").exists()
        assert run(again, 0) == {}
        assert list(folder.take_results()) == [0, 1, 2]

    def test_begins_no_table_of_a_run_that_is_over(self, folder, lake, tmp_path):
        share = share_of(folder, lake, num_tables=2)
        shutil.rmtree(folder.path)

        assert run(share, 0) == {}

        assert not (tmp_path / "index").exists()

    @pytest.mark.parametrize("is_full_at_first", [True, False])
    def test_does_each_table_once_where_nothing_can_be_told(
        self, folder: "RunFolder", lake: Path, *, is_full_at_first: bool
    ) -> None:
        share = share_of(folder, lake, num_tables=5)
        shutil.rmtree(folder.path)
        folder.path.write_text("a file, as little use as a folder on a full disk")
        if is_full_at_first:
            share = share_of(folder, lake, num_tables=5)
            assert share.claims is None

        first, second = run(share, 0), run(share, 1)

        assert (list(first), list(second)) == ([0, 2, 4], [1, 3])
        for result in (first | second).values():
            assert result["state"] == "INDEXED"

    def test_leaves_a_large_log_to_jobs_of_its_own(self, folder, lake):
        from deltaweb.spark.table_tasks import LARGE

        share = share_of(folder, lake, num_tables=2)
        large = replace(share.requests[1], max_task_bytes=1)

        run(replace(share, requests={**share.requests, 1: large}), 0)

        results = folder.take_results()
        assert results[0]["state"] == "INDEXED"
        assert results[1] == LARGE

    @pytest.mark.parametrize(
        ("is_allowed", "state"), [(True, "INDEXED"), (False, "FAILED")]
    )
    def test_follows_a_log_to_allowed_roots_alone(
        self,
        folder: "RunFolder",
        lake: Path,
        tmp_path: Path,
        *,
        is_allowed: bool,
        state: str,
    ) -> None:
        share = share_of(folder, lake, num_tables=1)
        linked = tmp_path / "lake" / "linked"
        linked.mkdir(parents=True)
        (linked / "_delta_log").symlink_to(lake / "orders" / "_delta_log")
        roots = (str(lake),) if is_allowed else ()
        request = replace(
            share.requests[0], place=TablePlace(str(linked), allowed_roots=roots)
        )

        run(replace(share, requests={0: request}), 0)

        result = folder.take_results()[0]
        assert result["state"] == state
        assert result["error_code"] == ("" if is_allowed else "path-outside-table")


class TestRunFolder:
    def test_gives_a_table_to_one_task_of_a_job(self, folder: "RunFolder"):
        first, second = folder.begin_claims(), folder.begin_claims()
        assert first is not None
        assert second is not None
        assert first.claim(3)
        assert not first.claim(3)

        assert first.end() == {3}

        assert not first.claim(4)
        assert second.claim(3)
        assert second.end() == {3}

    def test_tells_progress_until_there_is_a_result(self, folder: "RunFolder") -> None:
        from deltaweb.spark.run_folder import TaskProgress

        said = {
            9: TaskProgress("Reading", 2, 7, "commits"),
            10: TaskProgress("Reading", 1, None, "commits"),
        }
        for position, progress in said.items():
            folder.report_progress(position, progress)
        assert folder.progress() == said

        assert folder.report_result(9, {"state": "INDEXED"})

        assert folder.take_results() == {9: {"state": "INDEXED"}}
        assert list(folder.progress()) == [10]
        assert folder.take_results() == {}

    def test_wants_no_table_of_a_run_that_is_over(self, folder: "RunFolder") -> None:
        assert not folder.is_cancelled(7)

        folder.path.rmdir()

        assert folder.is_cancelled(7)

    def test_stops_a_table_that_was_cancelled_before_it_is_read(
        self, folder: "RunFolder", lake: Path, tmp_path: Path
    ) -> None:
        folder.cancel(0)

        run(share_of(folder, lake, num_tables=1), 0)

        assert folder.take_results()[0]["state"] == "CANCELLED"
        assert not (tmp_path / "index").exists()
