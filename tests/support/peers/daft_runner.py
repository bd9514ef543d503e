"""Daft, in a folder of its own, because it requires an older release of pyarrow."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa

from tests.support.peers.sidecar import Sidecar

PACKAGES: Final = Path(sys.prefix) / "daft"
RELEASE: Final = "0.7.26"
READ: Final = """
import daft
from daft.io import IOConfig, S3Config
from pyiceberg.catalog.rest import RestCatalog
catalog = RestCatalog({share!r}, uri={uri!r}, token={token!r}, warehouse={share!r})
table = catalog.load_table(("data", {name!r}))
keys = table.io.properties
s3 = S3Config(
    endpoint_url=keys["s3.endpoint"],
    region_name=keys["s3.region"],
    key_id=keys["s3.access-key-id"],
    access_key=keys["s3.secret-access-key"],
    session_token=keys["s3.session-token"],
    use_ssl=False,
)
found = daft.read_iceberg(
    table, snapshot_id={snapshot_id}, io_config=IOConfig(s3=s3)
)
"""


class SidecarDaft(Sidecar):
    """A Daft that reads a share by its Iceberg catalogue."""

    def __init__(self, folder: Path) -> None:
        """Start it; `folder` is for rows."""
        quiet = {"DO_NOT_TRACK": "true", "DAFT_PROGRESS_BAR": "0"}
        super().__init__(folder, PACKAGES, **quiet)

    def read(
        self,
        share: str,
        profile: Mapping[str, str],
        name: str,
        snapshot_id: int | None = None,
    ) -> pa.Table:
        """Return the rows of a shared table, at a snapshot or the newest one."""
        code = READ.format(
            share=share,
            uri=profile["icebergEndpoint"],
            token=profile["bearerToken"],
            name=name,
            snapshot_id=snapshot_id,
        )
        return self.rows(code, "found")
