"""Our own recorded tables, which no test changes."""

from collections.abc import Iterator

import pytest

from tests.support.golden.recorded import own_folder
from tests.support.shared_folder import SharedFolder


@pytest.fixture(scope="session", autouse=True)
def _unchanged() -> Iterator[None]:
    """Refuse whoever changes them, and fail where another process has changed them."""
    shared = SharedFolder(own_folder())
    yield
    assert (shared.attempts(), shared.changes()) == ([], [])
