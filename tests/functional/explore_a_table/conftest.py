"""A reader, and the sample tables."""

from pathlib import Path

import pytest
from django.test import Client

from deltaweb.web.tables.models import Table
from tests.factories import new_user
from tests.indexed_tables import new_indexed_table


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(new_user("vera"))
    return client


@pytest.fixture
def orders(lake: Path) -> Table:
    return new_indexed_table("orders", lake / "orders")
