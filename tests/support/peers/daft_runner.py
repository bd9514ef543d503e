"""Daft in a process of its own, with an Iceberg catalogue attached."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.support.peers.fetched import find_package
from tests.support.peers.sidecar import Sidecar

DAFT: Final = "daft==0.7.26"


class SidecarDaft(Sidecar):
    """A Daft that reads the tables of a share.

    Args:
        folder: For rows, and for the package if the cache takes nothing.
        share: The name of the share.
        profile: What the profile file of a recipient says.
    """

    def __init__(self, folder: Path, share: str, profile: Mapping[str, str]) -> None:
        super().__init__(
            folder,
            find_package(DAFT, folder),
            DAFT_ANALYTICS_ENABLED="0",
            DO_NOT_TRACK="true",
            DAFT_RUNNER="native",
        )
        self._catalog = (
            "from pyiceberg.catalog.rest import RestCatalog\n"
            "import daft\n"
            f"catalog = RestCatalog('lab', uri={profile['icebergEndpoint']!r}, "
            f"token={profile['bearerToken']!r}, warehouse={share!r})\n"
        )

    def code(self, namespace: str, table: str, snapshot: int | None) -> str:
        """Return the code that reads a table as the variable `found`."""
        return (
            f"{self._catalog}"
            f"table = catalog.load_table(({namespace!r}, {table!r}))\n"
            f"found = daft.read_iceberg(table, snapshot_id={snapshot!r}).collect()"
        )
