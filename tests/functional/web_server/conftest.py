import contextlib
from collections.abc import Iterator

import pytest

from tests.functional.web_server.patient_server import IMPATIENCE_S, PATIENCE_S, serving


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a server listens that waits for its clients for longer than tests do."""
    with serving(tmp_path_factory.mktemp("web"), PATIENCE_S) as port:
        yield port


@pytest.fixture(scope="module")
def impatient_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where a server listens that soon gives up on its clients."""
    with serving(tmp_path_factory.mktemp("web"), IMPATIENCE_S) as port:
        yield port


@pytest.fixture
def connections() -> Iterator[contextlib.ExitStack]:
    """Connections that are closed when the test ends."""
    with contextlib.ExitStack() as stack:
        yield stack
