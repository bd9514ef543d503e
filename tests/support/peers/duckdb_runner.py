"""DuckDB of the release that its extensions come for, as packages."""

import sys
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
