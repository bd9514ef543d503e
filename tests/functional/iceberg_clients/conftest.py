"""A real server, the tables of the sharing clients, and pyiceberg in front of it."""

import json
from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog

from tests.functional.sharing_clients.conftest import (  # noqa: F401 (fixtures)
    SHARE,
    profile,
    server,
    tables,
)


@pytest.fixture(scope="session")
def catalog(profile: Path) -> Catalog:  # noqa: F811 (the fixture)
    """The share as pyiceberg's catalogue."""
    text = json.loads(profile.read_text())
    return RestCatalog(
        "lab",
        uri=text["icebergEndpoint"],
        token=text["bearerToken"],
        warehouse=SHARE,
    )
