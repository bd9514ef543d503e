"""A real server with the sample tables registered, and a key for its sharing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.installation import Installation, furnish, serving

NO_WORKER = 503


@pytest.fixture(scope="session")
def server(
    tmp_path_factory: pytest.TempPathFactory, lake: Path
) -> Iterator[Installation]:
    """`deltaweb serve` with the sample tables, and without a worker."""
    home = tmp_path_factory.mktemp("home")
    furnish(home, lake)
    with serving(home, ready=NO_WORKER, WORKERS="0") as installation:
        yield installation


@pytest.fixture(scope="session")
def sharing_key(server: Installation) -> str:
    """A key of the administrator for shares, and for nothing else."""
    return server.command("user", "key", "admin", "--scope", "share").strip()
