"""DuckDB of the release that its extensions come for, as packages."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.support.peers.sidecar import Sidecar

PACKAGES: Final = Path(sys.prefix) / "duckdb"
EXTENSIONS: Final = "duckdb_extension_*/extensions/*/*.duckdb_extension"


class SidecarDuckDB(Sidecar):
    """A DuckDB that has its extensions; it forgets no connection in between."""

    def __init__(self, folder: Path) -> None:
        """Start it; `folder` is for the extensions and for rows."""
        super().__init__(folder, PACKAGES)
        code = [
            "import duckdb",
            f"duckdb.execute(\"SET extension_directory = '{folder / 'extensions'}'\")",
            *(
                f"duckdb.execute(\"INSTALL '{extension}'\")"
                for extension in PACKAGES.glob(EXTENSIONS)
            ),
            "found = duckdb.sql('SELECT 1')",
        ]
        told = self.run("\n".join(code), "found")
        assert "error" not in told, told

    def attach(self, share: str, profile: Mapping[str, str]) -> None:
        """Attach a share by its Iceberg catalogue, under its own name."""
        endpoint, token = profile["icebergEndpoint"], profile["bearerToken"]
        kind = "TYPE iceberg, SECRET key"
        statements = (
            *(f"LOAD {name}" for name in ("avro", "httpfs", "iceberg")),
            "SET TimeZone = 'UTC'",
            f"CREATE OR REPLACE SECRET key (TYPE iceberg, TOKEN '{token}')",
            f"ATTACH '{share}' AS {share} ({kind}, ENDPOINT '{endpoint}')",
        )
        code = "\n".join(f"duckdb.sql({text!r})" for text in statements)
        told = self.run(
            f"import duckdb\n{code}\nfound = duckdb.sql('SELECT 1')", "found"
        )
        assert "error" not in told, told
