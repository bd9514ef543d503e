"""A reader, and the sample tables."""

from pathlib import Path

import pytest
from django.test import Client

from deltaweb.web.tables.models import Table
from tests.support.index.indexed_tables import new_indexed_table
from tests.support.pages.factories import new_user


@pytest.fixture
def viewer(client: Client) -> Client:
    client.force_login(new_user("vera"))
    return client


@pytest.fixture
def orders(lake: Path) -> Table:
    return new_indexed_table("orders", lake / "orders")
