"""A table in a folder of a plain name, and one of an odd name."""

import pytest

from tests.shown_views import FOLDERS, write_table


@pytest.fixture(scope="session", params=FOLDERS, ids=["plain", "odd"])
def location(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A table of odd columns, in two versions."""
    return write_table(tmp_path_factory.mktemp("lake") / request.param)
