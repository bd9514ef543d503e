"""A table in a folder of a plain name, one of an odd name, and DuckDB beside them."""

from collections.abc import Iterator

import pytest

from tests.support.pages.shown_views import FOLDERS, write_table
from tests.support.peers.duckdb_runner import SidecarDuckDB


@pytest.fixture(scope="session", params=FOLDERS, ids=["plain", "odd"])
def location(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A table of odd columns, in two versions."""
    return write_table(tmp_path_factory.mktemp("lake") / request.param)


@pytest.fixture(scope="session")
def duckdb_beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarDuckDB]:
    """A DuckDB that has its delta extension."""
    started = SidecarDuckDB(tmp_path_factory.mktemp("duckdb"))
    yield started
    started.close()
