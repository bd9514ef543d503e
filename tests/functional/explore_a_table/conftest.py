"""A reader, and the sample tables."""

from pathlib import Path

import pytest
from django.test import Client

from apps.tables.models import Table
from deltaweb.samples import make_samples
from tests.factories import NOW, new_user
from tests.indexed_tables import new_indexed_table


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample tables, made by the project's own writer."""
    folder = tmp_path_factory.mktemp("lake")
    make_samples(folder, NOW)
    return folder


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(new_user("vera"))
    return client


@pytest.fixture
def orders(lake: Path) -> Table:
    return new_indexed_table("orders", lake / "orders")
