"""An index says of every version what the log and another reader say."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable as PeerTable

from deltaweb.index.folder.file_index import METADATA, PROTOCOLS
from deltaweb.index.folder.result import INDEXED, UNSUPPORTED
from tests.support.index.index_builds import (
    add_commit,
    build_index,
    commits,
    index,
    rows,
)
from tests.support.index.index_folders import OpenIndex, open_index


class TestNewestVersion:
    @pytest.fixture
    def orders(self, lake: Path, tmp_path: Path) -> OpenIndex:
        return open_index(index(lake / "orders", tmp_path).folder)

    def test_has_the_facts_of_the_snapshot(self, lake: Path, tmp_path: Path) -> None:
        result = index(lake / "orders", tmp_path)

        peer = PeerTable(lake / "orders")
        assert result.state == INDEXED
        assert result.version == peer.version()
        assert result.num_files == len(peer.file_uris())
        assert result.num_records == 5568
        assert result.delta_id == str(peer.metadata().id)
        assert result.partition_columns == ["order_date", "country"]
        assert result.num_columns == 10

    def test_lists_the_files_with_typed_partitions_and_statistics(self, orders):
        row = orders.files.slice(0, 1).to_pylist()[0]

        assert orders.files.num_rows == 84
        assert dict(row["partition_values"])["country"] == row["partition"]["country"]
        assert row["partition"]["order_date"].isoformat() in row["path"]
        assert row["min"]["order_id"] <= row["max"]["order_id"]
        assert row["max"]["order_id"] - row["min"]["order_id"] == row["num_records"] - 1
        assert row["null_count"]["order_id"] == 0
        assert "country" not in row["min"]

    def test_is_memory_mapped(self, orders: OpenIndex) -> None:
        before = pa.total_allocated_bytes()

        again = open_index(orders.folder)

        assert pa.total_allocated_bytes() - before < again.files.nbytes / 4

    def test_adds_up_what_the_overview_draws(self, orders: OpenIndex) -> None:
        summary = orders.summary["summary"]

        assert sum(summary["size_histogram"]["counts"]) == 84
        assert summary["num_partitions"] == 84
        assert sum(p["rows"] for p in summary["partitions"]) == 5568
        assert summary["stats_files"] == 84
        assert sum(summary["commits_30d"]) == 22
        assert len(summary["commits_30d"]) == 30
        assert summary["target_file_size_bytes"] == 128 << 20

    def test_may_be_empty(self, lake: Path, tmp_path: Path) -> None:
        result = index(lake / "returns", tmp_path)

        assert (result.num_files, result.num_records) == (0, 0)
        assert open_index(result.folder).files.num_rows == 0


class TestHistory:
    def test_has_the_totals_that_another_reader_finds_at_each_version(
        self, lake: Path, tmp_path: Path
    ) -> None:
        result = index(lake / "customers", tmp_path)

        stored = commits(result)
        assert [row["version"] for row in stored] == list(range(60))
        for row in stored[::7]:
            peer = PeerTable(lake / "customers", version=row["version"])
            actions = pa.table(peer.get_add_actions(flatten=True))
            assert row["num_files"] == actions.num_rows
            assert row["size_bytes"] == sum(actions["size_bytes"].to_pylist())
            assert row["num_records"] == sum(actions["num_records"].to_pylist())

    def test_tells_each_commit(self, lake: Path, tmp_path: Path) -> None:
        stored = commits(index(lake / "customers", tmp_path))

        assert stored[0]["operation"] == "CREATE TABLE"
        assert stored[1]["user_name"] == "signup-stream"
        assert stored[1]["sentence"].startswith("Appended")
        assert json.loads(stored[1]["metrics"])["numFiles"] == "1"
        assert [r["version"] for r in stored if r["changes_schema"]] == [20, 39]
        assert [r["version"] for r in stored if r["changes_metadata"]] == [
            0,
            10,
            20,
            26,
            39,
        ]

    def test_keeps_metadata_and_protocol_by_version(self, lake: Path, tmp_path: Path):
        result = index(lake / "customers", tmp_path)

        assert [row["version"] for row in rows(result, METADATA)] == [0, 10, 20, 26, 39]
        assert [row["version"] for row in rows(result, PROTOCOLS)] == [0, 25]

    def test_marks_the_versions_that_a_vacuum_hurt(self, lake: Path, tmp_path: Path):
        result = index(lake / "customers", tmp_path)

        for row in commits(result):
            peer = PeerTable(lake / "customers", version=row["version"])
            names = [Path(uri).name for uri in peer.file_uris()]
            is_missing = [not (lake / "customers" / name).exists() for name in names]
            assert row["num_missing_files"] == sum(is_missing)
            expected = "READABLE"
            if any(is_missing):
                expected = "FILES_GONE" if all(is_missing) else "PARTLY"
                assert row["vacuumed_by"] == 49
            assert row["readability"] == expected
        first, second, *_, last = result.summary["readable_runs"]
        assert first == [0, 0, "READABLE", ""]
        assert second[2:] == [
            "FILES_GONE",
            "All of its files were deleted by the VACUUM of version 49.",
        ]
        assert last[1:3] == [59, "READABLE"]
        assert {"version": 50, "kind": "vacuum"} in result.summary["events"]

    def test_says_what_a_cleaned_log_no_longer_reaches(self, lake, tmp_path):
        table = Path(shutil.copytree(lake / "customers", tmp_path / "table"))
        for version in range(45):
            (table / "_delta_log" / f"{version:020d}.json").unlink()

        result = index(table, tmp_path)

        assert result.summary["readable_runs"][0][:3] == [0, 49, "GONE"]
        assert result.summary["earliest_version"] == 50
        stored = {row["version"]: row for row in commits(result)}
        assert min(stored) == 45
        assert stored[47]["readability"] == "GONE"
        assert stored[47]["num_files"] is None
        full = index(lake / "customers", tmp_path / "full")
        expected = {row["version"]: row for row in commits(full)}
        for version in range(51, 60):
            assert stored[version] == expected[version]
        assert [row["version"] for row in rows(result, METADATA)] == [50]

    def test_passes_over_a_commit_that_does_not_parse(self, lake: Path, tmp_path: Path):
        table = Path(shutil.copytree(lake / "customers", tmp_path / "table"))
        (table / "_delta_log" / f"{30:020d}.json").write_text("{broken\n")

        result = index(table, tmp_path)

        assert result.state == INDEXED
        assert result.num_records == 3438
        stored = commits(result)
        assert "This commit cannot be read" in stored[30]["sentence"]
        states = {row["version"]: row["readability"] for row in stored}
        assert states[10] == "FILES_GONE"
        assert {states[version] for version in range(30, 50)} == {"GONE"}
        assert {states[version] for version in range(50, 60)} == {"READABLE"}
        assert "Commit 30" in stored[31]["readability_reason"]
        whole = commits(index(lake / "customers", tmp_path / "whole"))
        assert [row["num_records"] for row in stored[:30]] == [
            row["num_records"] for row in whole[:30]
        ]
        assert [row["num_records"] for row in stored[50:]] == [
            row["num_records"] for row in whole[50:]
        ]


class TestUnsupportedVersion:
    def test_is_indexed_by_metadata_and_history_alone(self, lake: Path, tmp_path: Path):
        table = Path(shutil.copytree(lake / "orders", tmp_path / "table"))
        protocol = {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["timeTravelMachine"],
            "writerFeatures": ["timeTravelMachine"],
        }
        add_commit(table, 22, {"protocol": protocol})

        result = index(table, tmp_path)

        assert result.state == UNSUPPORTED
        assert (result.version, result.num_records) == (22, None)
        newest = commits(result)[-1]
        assert result.num_files == newest["num_files"] == 84
        assert result.size_bytes == newest["size_bytes"]
        assert "timeTravelMachine" in result.error
        assert result.summary["readable_runs"] == [
            [0, 21, "READABLE", ""],
            [22, 22, "UNSUPPORTED",
             "It uses timeTravelMachine, which this server does not read."],
        ]  # fmt: skip
        assert len(commits(result)) == 23
        stored = rows(result, PROTOCOLS)
        assert [row["version"] for row in stored] == [0, 22]
        assert stored[1]["unsupported_reason"] == (
            "It uses timeTravelMachine, which this server does not read."
        )
        assert open_index(result.folder).files.num_rows == 0


class TestProgress:
    def test_is_told_by_steps(self, lake: Path, tmp_path: Path) -> None:
        told: list[tuple[str, int, int | None, str]] = []

        build_index(
            str(lake / "customers"),
            None,
            tmp_path / "index",
            on_progress=lambda *progress: told.append(progress),
        )

        steps = list(dict.fromkeys(step for step, *_ in told))
        assert steps == [
            "Reading the newest snapshot",
            "Replaying the log",
            "Reading statistics",
            "Following the files",
            "Writing the index",
        ]
        assert ("Replaying the log", 60, 60, "commits") in told

    def test_may_stop_the_work(self, lake: Path, tmp_path: Path) -> None:
        def stop(step: str, *_: object) -> None:
            if step == "Writing the index":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build_index(
                str(lake / "orders"), None, tmp_path / "index", on_progress=stop
            )

        assert list(tmp_path.iterdir()) == []
