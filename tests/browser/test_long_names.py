"""Names without a place to break: no page of them is wider than its window."""

from pathlib import Path

import pytest

from tests.browser.conftest import Watch, register
from tests.browser.soundness import assert_fits
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, add, metadata, protocol
from tests.support.processes.installation import Installation

NAMESPACE, NAME = "n" * 100, "t" * 200
TABLE = f"/t/{NAMESPACE}/{NAME}/"
COMMIT_INFO = {
    "commitInfo": {
        "timestamp": 1_700_000_000_000,
        "operation": "O" * 150,
        "operationParameters": {"predicate": "p" * 300},
        "userName": "u" * 150,
        "engineInfo": "e" * 200,
    }
}


@pytest.fixture(scope="module", autouse=True)
def table(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A table whose every name is as long as it may be."""
    log = LogBuilder()
    long_metadata = metadata(name="m" * 200, description="word " * 400)
    log.commit(0, COMMIT_INFO, protocol(), long_metadata)
    log.commit(1, COMMIT_INFO, add(f"part-{'p' * 200}.parquet", size=1000))
    folder = Path(tmp_path_factory.mktemp("long")) / ("f" * 200) / ("g" * 200)
    folder.mkdir(parents=True)
    location = log.on_disk(folder)
    register(server, f"{NAMESPACE}.{NAME}", location)
    # What cannot be read any more is named by its whole path.
    folder.rename(folder.with_name("gone"))


@cases(
    "path",
    {
        "dashboard": "/",
        "catalog": "/tables/",
        "jobs": "/jobs/",
        "overview": TABLE,
        "history": f"{TABLE}history",
        "commit": f"{TABLE}history/0",
        "files": f"{TABLE}files",
        "checkpoint": f"{TABLE}checkpoint",
        "clean-up": f"{TABLE}cleanup",
        "use": f"{TABLE}use",
        "an error of a table": f"{TABLE}no/such/page",
        "search": "/search?q=t",
    },
    often=["dashboard", "jobs", "overview", "commit", "files", "checkpoint"],
)
def test_break_where_the_window_ends(watch: Watch, server: Installation, path: str):
    assert_fits(watch, f"{server.url}{path}")
