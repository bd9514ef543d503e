"""Every recorded table, at every recorded version: what the log says of it."""

import pytest

from deltaweb.delta.errors import DeltaError
from tests.support.golden.golden_refusals import (
    is_of_unread_features,
    snapshot_or_refusal,
)
from tests.support.golden.golden_tables import (
    NAMES,
    each_golden_table,
    expected_of,
    golden_table,
)
from tests.support.golden.golden_versions import check_version, paths_of
from tests.support.golden.recorded import own_folder


def test_every_table_of_our_own_is_a_case() -> None:
    own = {path.name for path in (own_folder() / "tables").iterdir()}

    assert len(own) >= 40
    assert own <= {*NAMES}


@each_golden_table
def test_each_version_is_right_or_refused(name: str) -> None:
    recorded = expected_of(name)

    for version, expected in recorded["versions"].items():
        snapshot = snapshot_or_refusal(golden_table(name), int(version))
        if isinstance(snapshot, DeltaError):
            assert expected.get("error") or is_of_unread_features(snapshot), version
            continue
        assert not expected.get("error"), version
        check_version(snapshot, expected, recorded["schemas"])
        tombstones = expected["tombstones"]
        counts = {tombstones["from_json_replay"], tombstones["from_newest_checkpoint"]}
        assert snapshot.tombstones.num_rows in counts


@each_golden_table
def test_the_newest_version_is_right_or_refused(name: str) -> None:
    expected = expected_of(name)

    snapshot = snapshot_or_refusal(golden_table(name))

    if isinstance(snapshot, DeltaError):
        assert expected["expect"] != "ok" or is_of_unread_features(snapshot)
        if expected["expect"] == "error":
            assert snapshot.code == _code(expected["error_category"])
        return
    assert expected["expect"] == "ok"
    assert snapshot.version == expected["latest_version"]


@each_golden_table
def test_the_log_of_a_refused_version_is_shown(name: str) -> None:
    for version, expected in expected_of(name)["versions"].items():
        if "log_view" not in expected:
            continue
        snapshot = golden_table(name).snapshot_metadata(int(version))

        assert snapshot.refusal is not None
        assert snapshot.num_files == expected["log_view"]["num_files"]
        assert paths_of(snapshot) == expected["log_view"]["paths"]


@each_golden_table
def test_history_holds_each_commit(name: str) -> None:
    expected = expected_of(name)
    if not expected["commit_files"]["count"]:
        pytest.skip("the log has no commit")

    history = golden_table(name).history()
    summaries = list(golden_table(name).commit_summaries())

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
