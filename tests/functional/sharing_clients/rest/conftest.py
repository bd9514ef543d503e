"""What scripts need that manage shares."""

import pytest

from tests.support.processes.installation import Installation


@pytest.fixture(scope="session")
def sharing_key(server: Installation) -> str:
    """A key of the administrator for shares, and for nothing else."""
    return server.command("user", "key", "admin", "--scope", "share").strip()
