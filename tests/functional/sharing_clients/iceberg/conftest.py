"""The share of the sharing clients, as pyiceberg has it."""

from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog

from tests.functional.sharing_clients.conftest import SHARE, catalog_of


@pytest.fixture(scope="session")
def catalog(profile: Path) -> Catalog:
    """The share as pyiceberg's catalogue."""
    return catalog_of(profile, SHARE)
