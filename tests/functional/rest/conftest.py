"""People with keys, and the tables that they call about."""

from pathlib import Path

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.tables.models import Table
from tests.support.index.indexed_tables import new_sample_table
from tests.support.pages.factories import new_api_key, new_user


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
