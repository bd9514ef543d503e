"""A log to share, and one that is indexed again and again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from deltaweb.index.build import update
from deltaweb.index.files import file_rows
from deltaweb.index.folder import parts
from deltaweb.index.history import commit_rows
from tests.support.logs.delta_logs import add
from tests.support.logs.indexed_logs import Indexed
from tests.support.logs.local_logs import LocalLog
from tests.support.pages.shared_tables import stats_text


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    """A table of three files in two partitions."""
    return LocalLog(tmp_path).start(
        add("p=1/a", size=1, partitionValues={"p": "1"}, stats=stats_text(10, 0, 9)),
        add("p=1/b", size=2, partitionValues={"p": "1"}, stats=stats_text(10, 10, 19)),
        add("p=2/c", size=4, partitionValues={"p": "2"}),
        partitionColumns=["p"],
    )


@pytest.fixture(scope="module")
def small_parts() -> Iterator[None]:
    """Parts of an index have three rows at most, and two are kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", 3)
        patch.setattr(parts, "KEPT_ROWS", 2)
        patch.setattr(file_rows, "ROWS_A_BATCH", 1)
        patch.setattr(update, "ROWS_A_BATCH", 1)
        patch.setattr(commit_rows, "ROWS_A_BATCH", 1)
        yield


@pytest.fixture(scope="module")
def indexed_once(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """A table of eight files with an index of its first version."""
    table = Indexed(tmp_path_factory.mktemp("indexed"))
    table.index()
    return table


@pytest.fixture
def indexed(indexed_once: Indexed, tmp_path: Path) -> Indexed:
    """That table, for a test to change."""
    return indexed_once.copied_to(tmp_path)
