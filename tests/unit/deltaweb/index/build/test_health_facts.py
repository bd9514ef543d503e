"""What an index notes for the rules of health, after a build and after an update."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.writing.checkpoint.builder import (
    CheckpointRequest,
    build_checkpoint,
)
from deltaweb.index.build.full import index_table
from deltaweb.index.folder.result import IndexResult
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    deletion_vector,
    metadata,
    own_time,
    protocol,
    remove,
)
from tests.support.logs.indexed_logs import DAY_MS, NOW_MS, Indexed, file_of, vacuum_of
from tests.support.logs.local_logs import stats_of, typed_schema
from tests.support.tables.table_builder import TableBuilder


def facts_of(result: IndexResult | None) -> dict[str, Any]:
    assert result is not None
    facts: dict[str, Any] = result.summary["health"]
    return facts


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    indexed = Indexed(tmp_path)
    indexed.index()
    return indexed


class TestTheLog:
    def test_has_no_checkpoint_and_no_hint(self, indexed: Indexed) -> None:
        log = facts_of(indexed.result)["log"]
        assert (log["first_commit"], log["newest_checkpoint"]) == (0, None)
        assert (log["hint_version"], log["is_hint_broken"]) == (None, False)

    def test_has_a_checkpoint_that_came_since(self, indexed: Indexed) -> None:
        indexed.commit(file_of("a", 1))
        at = datetime.fromtimestamp(NOW_MS / 1000, UTC)
        build_checkpoint(indexed.store, CheckpointRequest(now=at))
        log = facts_of(indexed.index())["log"]
        assert indexed.has_gone_on
        assert (log["oldest_checkpoint"], log["newest_checkpoint"]) == (1, 1)
        assert not log["is_hint_dangling"]
        indexed.assert_is_what_the_log_gives()

    def test_has_a_hint_that_names_no_checkpoint(self, indexed: Indexed) -> None:
        indexed.log.hint(b'{"version": 7}')
        assert facts_of(indexed.index())["log"]["is_hint_dangling"]
        assert indexed.has_gone_on
        indexed.assert_is_what_the_log_gives()

    def test_has_a_hint_that_is_torn(self, indexed: Indexed) -> None:
        indexed.log.hint(b'{"version": 7')
        log = facts_of(indexed.index())["log"]
        assert (log["is_hint_broken"], log["is_hint_dangling"]) == (True, False)


class TestTheHistory:
    def test_adds_up_removed_files_until_a_vacuum(self, tmp_path: Path) -> None:
        log = LogBuilder().start(add("a", size=5), add("b", size=7)).time(0, NOW_MS)
        log.commit(1, remove("a", size=5)).time(1, NOW_MS + DAY_MS)
        log.commit(2, vacuum_of("VACUUM START")).time(2, NOW_MS + 20 * DAY_MS)
        log.commit(3, remove("b", size=7)).time(3, NOW_MS + 21 * DAY_MS)
        at = NOW_MS + 22 * DAY_MS
        history = facts_of(index_table(log.table, tmp_path / "i", now_ms=at))["history"]
        assert history["points"] == [
            [0, NOW_MS, 0, 0],
            [1, NOW_MS + DAY_MS, 0, 0],
            [2, NOW_MS + 20 * DAY_MS, 0, 0],
            [3, NOW_MS + 21 * DAY_MS, 1, 7],
        ]
        assert history["vacuum_cutoff_ms"] == NOW_MS + 20 * DAY_MS  # it kept nothing

    def test_does_not_know_what_left_beside_deletion_vectors(
        self, tmp_path: Path
    ) -> None:
        names = ["deletionVectors"]
        log = LogBuilder().commit(
            0, protocol(3, 7, readerFeatures=names, writerFeatures=names), metadata()
        )
        facts = facts_of(index_table(log.table, tmp_path / "i", now_ms=NOW_MS))
        assert [point[2:] for point in facts["history"]["points"]] == [[None, None]]

    def test_has_no_more_points_than_days_and_some(self, tmp_path: Path) -> None:
        log = LogBuilder().start()
        for version in range(1, 400):
            log.commit(version, own_time(1)).time(version, NOW_MS + version * DAY_MS)
        at = NOW_MS + 400 * DAY_MS
        facts = facts_of(index_table(log.table, tmp_path / "i", now_ms=at))
        versions = [point[0] for point in facts["history"]["points"]]
        assert versions[0] == 0
        assert versions[-40:] == [*range(360, 400)]
        assert len(versions) <= 66
        assert versions == sorted(set(versions))


class TestTheFiles:
    @pytest.mark.parametrize(
        ("limit", "is_whole"), [("3", True), ("32", True), ("36", False), ("-1", False)]
    )
    def test_have_no_other_statistics_if_the_index_has_all_that_writers_keep(
        self, tmp_path: Path, *, limit: str, is_whole: bool
    ) -> None:
        """The index has 32 columns at most."""
        rows = pa.table({f"c{number}": [number] for number in range(40)})
        made = TableBuilder().property("delta.dataSkippingNumIndexedCols", limit)
        facts = facts_of(index_table(made.rows(rows).build(), tmp_path / "i"))
        assert facts["statistics"]["is_whole"] == is_whole

    def test_have_statistics_by_column(self, tmp_path: Path) -> None:
        schema = typed_schema(id="long", note="string")
        log = LogBuilder().start(
            add("a", stats=stats_of(1, {"id": 1}, {"id": 1})),
            add("b", stats=stats_of(1, {"id": 1, "note": "x"}, {"id": 1, "note": "x"})),
            add("c"),
            schemaString=schema,
        )
        statistics = facts_of(index_table(log.table, tmp_path / "i"))["statistics"]
        assert statistics["columns"] == [["id", 2], ["note", 1]]
        assert statistics["num_without"] == 1
        assert statistics["path_bytes"] == 3

    def test_have_rows_that_vectors_delete(self, tmp_path: Path) -> None:
        names = ["deletionVectors"]
        vector = deletion_vector("ab^-aqEH.-t@S}K{vb[*k^", 4)
        log = LogBuilder().commit(
            0,
            protocol(3, 7, readerFeatures=names, writerFeatures=names),
            metadata(),
            add("a", size=9, stats=stats_of(10, {}, {}), deletionVector=vector),
            add("b", size=8, stats=stats_of(10, {}, {})),
        )
        assert facts_of(index_table(log.table, tmp_path / "i"))["vectors"] == {
            "num_files": 1,
            "size_bytes": 9,
            "rows": 10,
            "deleted_rows": 1,
        }
