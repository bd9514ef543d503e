"""People with keys, the tables that they call about, and a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from deltaweb.web.accounts.models import User
from deltaweb.web.tables.models import Table
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.factories import new_api_key, new_user
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


@pytest.fixture
def vera(db: None) -> Client:  # noqa: ARG001 (people are rows)
    """A script of a viewer."""
    return Client(headers=new_api_key(new_user("vera")))


@pytest.fixture
def eve(db: None) -> Client:  # noqa: ARG001 (people are rows)
    """A script of an editor."""
    return Client(headers=new_api_key(new_user("eve", role=User.Role.EDITOR)))


@pytest.fixture
def orders(db: None, lake: Path) -> Table:  # noqa: ARG001 (tables are rows)
    """The sample of many versions, indexed; no test changes it."""
    return new_sample_table("sales.orders", lake / "orders")
