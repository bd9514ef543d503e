"""The sample tables are real tables: other readers read every version of them."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from deltalake import DeltaTable as PeerTable

from deltaweb.samples import SampleTable, make_samples
from tests.support import cases

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def samples(lake: Path) -> dict[str, SampleTable]:
    return {sample.name: sample for sample in make_samples(lake, NOW)}


class TestMakeSamples:
    @cases(
        "name, version, rows, writer",
        {
            "partitioned": ("orders", 21, 5568, 2),
            "nested": ("device_readings", 6, 1500, 2),
            "evolved": ("customers", 59, 3438, 3),
            "empty": ("returns", 0, 0, 2),
        },
    )
    def test_makes_tables_that_other_readers_read(
        self,
        samples: dict[str, SampleTable],
        name: str,
        version: int,
        rows: int,
        writer: int,
    ) -> None:
        location = samples[name].location
        peer = PeerTable(location)

        assert peer.version() == version
        assert peer.to_pyarrow_table().num_rows == rows
        assert pl.read_delta(location).height == rows
        protocol = peer.protocol()
        assert (protocol.min_reader_version, protocol.min_writer_version) == (1, writer)

    def test_tells_a_life_of_many_operations(self, samples: dict[str, SampleTable]):
        history = PeerTable(samples["customers"].location).history()

        assert len(history) == 60
        assert {commit["operation"] for commit in history} == {
            "CREATE TABLE", "WRITE", "MERGE", "UPDATE", "DELETE", "OPTIMIZE",
            "ADD COLUMNS", "SET TBLPROPERTIES", "UPGRADE PROTOCOL", "ADD CONSTRAINT",
            "RESTORE", "VACUUM START", "VACUUM END",
        }  # fmt: skip

    def test_spreads_the_commits_over_weeks_in_order(self, samples):
        log = Path(samples["customers"].location, "_delta_log")
        commits = sorted(log.glob("*.json"))
        times_ms = [int(path.stat().st_mtime * 1000) for path in commits]
        claimed_ms = [
            json.loads(path.read_text().splitlines()[0])["commitInfo"]["timestamp"]
            for path in commits
        ]

        assert times_ms == sorted(times_ms)
        assert times_ms == pytest.approx(claimed_ms, abs=1)
        assert times_ms[-1] < NOW.timestamp() * 1000
        assert times_ms[-1] - times_ms[0] > 30 * 24 * 3600 * 1000

    def test_deletes_files_for_real_in_its_vacuum(self, samples):
        location = samples["customers"].location
        vacuumed = PeerTable(location, version=5)
        kept = PeerTable(location)

        def missing(table: PeerTable) -> int:
            names = [Path(location, Path(uri).name) for uri in table.file_uris()]
            return sum(not name.exists() for name in names)

        assert missing(vacuumed) > 0
        assert missing(kept) == 0

    def test_leaves_tables_that_stand_alone(self, samples: dict[str, SampleTable]):
        first = list(samples.values())
        folder = Path(first[0].location).parent
        marks = {s.name: Path(s.location).stat().st_ino for s in first}

        second = make_samples(folder, NOW)

        assert second == first
        assert {s.name: Path(s.location).stat().st_ino for s in second} == marks

    def test_makes_anew_what_an_interrupted_start_left_half_done(self, lake, tmp_path):
        returns = shutil.ignore_patterns("returns")
        shutil.copytree(lake, tmp_path, ignore=returns, dirs_exist_ok=True)
        half = tmp_path / ".returns.0123"
        (half / "_delta_log").mkdir(parents=True)

        samples = make_samples(tmp_path, NOW)

        assert not half.exists()
        assert PeerTable(samples[3].location).version() == 0
