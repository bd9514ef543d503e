"""A large table's index is made in several threads, and is the same."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.index.folder.result import FAILED
from deltaweb.index.history.engine import InProcess
from tests.support.index.index_builds import build_index
from tests.support.index.index_folders import contents

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)


@pytest.fixture
def orders(lake: Path) -> str:
    return str(lake / "orders")


@pytest.fixture
def _everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deltaweb.index.build.full.FILES_WORTH_A_THREAD", 1)
    monkeypatch.setattr("deltaweb.delta.log.commits.batch.BATCH_BYTES", 2_000)


def test_threads_change_nothing(orders, tmp_path, request):
    build_index(orders, None, tmp_path / "alone", now_ms=NOW_MS)
    request.getfixturevalue("_everything_is_large")

    build_index(orders, None, tmp_path / "threads", now_ms=NOW_MS)

    assert contents(tmp_path / "threads") == contents(tmp_path / "alone")


@pytest.mark.usefixtures("_everything_is_large")
def test_a_fault_of_the_thread_is_one_of_the_index(orders, tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise LocationUnreachableError(location=orders, reason="it is gone")

    monkeypatch.setattr(InProcess, "write_files", fail)

    result = build_index(orders, None, tmp_path / "index", now_ms=NOW_MS)

    assert (result.state, result.error_code) == (FAILED, "location-unreachable")
    assert list(tmp_path.iterdir()) == []
