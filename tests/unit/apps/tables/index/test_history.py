from pathlib import Path

import pytest

from apps.tables.index.history import IndexedHistory, open_history
from deltaweb.index.folder.file_index import METADATA
from deltaweb.index.folder.parts import IndexMissingError
from tests.support.index.index_builds import build_index
from tests.support.logs.dated_log import DatedLog
from tests.support.logs.delta_logs import metadata

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def history(tmp_path: Path, folder: Path) -> IndexedHistory:
    """Versions 3 to 9; the id of the table changes at 7."""
    log = DatedLog(tmp_path / "lake").write(0, 9)
    log.commit(7, metadata("other"))
    log.clean_up(3)
    return open_history(folder, build_index(log.location, None, folder))


class TestIndexedHistory:
    @pytest.mark.parametrize(
        ("version", "expected"),
        [(-1, [3, 4, 5, 6, 7, 8, 9]), (8, [9]), (9, []), (99, [])],
    )
    def test_gives_the_commits_after_a_version(self, history, version, expected):
        batches = list(history.commits_after(version))

        found = [v for batch in batches for v in batch["version"].to_pylist()]
        assert found == expected
        assert history.count_after(version) == len(expected)

    def test_gives_the_oldest_of_them_first(self, history: IndexedHistory) -> None:
        (batch,) = history.commits_after(4, 2)

        assert batch["version"].to_pylist() == [5, 6]

    def test_gives_one_commit(self, history: IndexedHistory) -> None:
        commit = history.commit(5)

        assert commit is not None
        assert (commit["version"], commit["user_name"]) == (5, "etl")
        assert history.commit(2) is None
        assert history.commit(10) is None

    @pytest.mark.parametrize(
        ("version", "expected"),
        [(0, "table"), (3, "table"), (6, "table"), (7, "other"), (99, "other")],
    )
    def test_knows_the_id_at_a_version(self, history, version, expected):
        assert history.metadata_id(version) == expected

    def test_knows_what_the_log_holds(self, history: IndexedHistory) -> None:
        assert history.first_kept == 3

    def test_of_a_log_without_commits_holds_none(self, tmp_path: Path) -> None:
        log = DatedLog(tmp_path / "other").write(0, 4).clean_up(4)
        (log.log / f"{4:020d}.json").unlink()
        folder = tmp_path / "index"

        history = open_history(folder, build_index(log.location, None, folder))

        assert history.first_kept == 5
        assert history.commit(4) is None


def test_a_folder_that_is_not_whole_holds_no_history(history, folder):
    (folder / METADATA).write_bytes(b"torn")

    with pytest.raises(IndexMissingError, match=METADATA):
        open_history(folder, history.result)
