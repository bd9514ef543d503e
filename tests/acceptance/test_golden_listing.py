"""Every recorded table, at every recorded version: what the log says of it.

The tables are a folder that DELTAWEB_GOLDEN names; without it no case is collected.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from tests.support.golden.golden_metadata import check_metadata
from tests.support.golden.golden_refusals import (
    is_of_unread_features,
    snapshot_or_refusal,
)

GOLDEN = Path(os.environ.get("DELTAWEB_GOLDEN", "")) / "tables"
HAS_GOLDEN = bool(os.environ.get("DELTAWEB_GOLDEN")) and GOLDEN.is_dir()


@dataclass(frozen=True)
class GoldenTable:
    """A recorded table and what every reader must make of it."""

    root: Path
    expected: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.root.parent.name

    def versions(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for version, expected in self.expected["versions"].items():
            yield int(version), expected

    def table(self) -> DeltaTable:
        return DeltaTable(str(self.root))


def _golden_names() -> list[str]:
    if not HAS_GOLDEN:
        return []
    return sorted(path.parent.name for path in GOLDEN.glob("*/expected.json"))


def _golden(name: str) -> GoldenTable:
    folder = GOLDEN / name
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return GoldenTable(folder / "table", expected)


NAMES = _golden_names()
golden_names = pytest.mark.parametrize("name", NAMES)


@pytest.mark.skipif(not HAS_GOLDEN, reason="DELTAWEB_GOLDEN names no folder")
def test_every_recorded_table_is_a_case() -> None:
    folders = [path for path in GOLDEN.iterdir() if path.is_dir()]

    assert len(NAMES) == len(folders) > 0


@golden_names
def test_each_version_is_right_or_refused(name: str) -> None:
    golden = _golden(name)

    for version, expected in golden.versions():
        snapshot = snapshot_or_refusal(golden.table(), version)
        if isinstance(snapshot, DeltaError):
            assert expected.get("error") or is_of_unread_features(snapshot), version
            continue
        assert not expected.get("error"), version
        _check_snapshot(snapshot, expected, golden.expected["schemas"])


@golden_names
def test_the_newest_version_is_right_or_refused(name: str) -> None:
    golden = _golden(name)
    expected = golden.expected

    snapshot = snapshot_or_refusal(golden.table())

    if isinstance(snapshot, DeltaError):
        assert expected["expect"] != "ok" or is_of_unread_features(snapshot)
        if expected["expect"] == "error":
            assert snapshot.code == _code(expected["error_category"])
        return
    assert expected["expect"] == "ok"
    assert snapshot.version == expected["latest_version"]


@golden_names
def test_the_log_of_a_refused_version_is_shown(name: str) -> None:
    golden = _golden(name)

    for version, expected in golden.versions():
        if "log_view" not in expected:
            continue
        snapshot = golden.table().snapshot_metadata(version)

        assert snapshot.refusal is not None
        assert snapshot.num_files == expected["log_view"]["num_files"]
        assert _paths(snapshot) == expected["log_view"]["paths"]


@golden_names
def test_history_holds_each_commit(name: str) -> None:
    golden = _golden(name)
    expected = golden.expected
    if not expected["commit_files"]["count"]:
        pytest.skip("the log has no commit")

    history = golden.table().history()
    summaries = list(golden.table().commit_summaries())

    count = expected["commit_files"]["count"]
    assert len(history) == len(summaries) == count
    assert [entry.version for entry in reversed(history)] == [
        summary.version for summary in summaries
    ]
    assert all(summary.fault is None for summary in summaries)
    operations = {entry.version: entry.operation for entry in history}
    for entry in expected.get("history", {}).get("entries", []):
        assert operations[entry["version"]] == entry["operation"]


def _code(category: str) -> str:
    """Return our code for a recorded category: one sentence names the feature."""
    return "unsupported-feature" if category == "catalog-managed" else category


def _check_snapshot(snapshot, expected, schemas):
    paths = _paths(snapshot)
    assert snapshot.num_files == len(paths) == expected["num_files"]
    assert snapshot.size_bytes == expected["total_bytes"]
    assert (pc.sum(snapshot.files["size"]).as_py() or 0) == expected["total_bytes"]
    digest = hashlib.sha256("\n".join(paths).encode()).hexdigest()
    assert digest == expected["paths_sha256"]
    check_metadata(snapshot, expected, schemas)
    protocol = expected["protocol"]
    assert snapshot.protocol.min_reader_version == protocol["minReaderVersion"]
    assert snapshot.protocol.min_writer_version == protocol["minWriterVersion"]
    for features, recorded_features in (
        (snapshot.protocol.reader_features, protocol.get("readerFeatures")),
        (snapshot.protocol.writer_features, protocol.get("writerFeatures")),
    ):
        assert sorted(features or ()) == sorted(recorded_features or ())
    transactions = {
        app_id: transaction.version
        for app_id, transaction in snapshot.transactions.items()
    }
    assert transactions == expected.get("txns", {})
    recorded = expected["tombstones"]
    counts = {recorded["from_json_replay"], recorded["from_newest_checkpoint"]}
    assert snapshot.tombstones.num_rows in counts


def _paths(snapshot: Snapshot) -> list[str]:
    return sorted(snapshot.files["path"].to_pylist())
