"""A real server that shares every recorded table, and what reads of it."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table import Table as IcebergTable

from deltaweb.table import DeltaTable
from tests.functional.every_door.faults import VERSIONS
from tests.functional.sharing_clients.conftest import (
    GOLDEN,
    NO_WORKER,
    SCRIPT,
    SHARE,
    plain,
)
from tests.support.peers.duckdb_runner import SidecarDuckDB
from tests.support.processes.installation import ROOT, furnish, serving

NAMES = sorted(path.parent.name for path in GOLDEN.glob("*/expected.json"))
INDEX = """
import sys
sys.path.insert(0, {root!r})
from tests.support.index.indexed_tables import index_table
from deltaweb.web.tables.models import Table
for table in Table.objects.filter(name__in={names!r}, namespace="shared"):
    index_table(table)
"""


@dataclass(frozen=True)
class Doors:
    """The recorded tables, shared.

    Attributes:
        profile: The profile file of a recipient.
        catalog: The share as an Iceberg catalogue.
        duckdb: Reads the same catalogue.
    """

    profile: Path
    catalog: Catalog
    duckdb: SidecarDuckDB

    def url(self, name: str) -> str:
        """What the functions of the sharing client take."""
        return f"{self.profile}#{SHARE}.data.{plain(name)}"

    def iceberg_table(self, name: str) -> IcebergTable:
        """The table as the catalogue has it."""
        return self.catalog.load_table(("data", plain(name)))

    def snapshot(self, table: IcebergTable, version: int | None) -> int | None:
        """The snapshot that is a version."""
        found = {
            one.summary["delta.version"]: one.snapshot_id
            for one in table.metadata.snapshots
            if one.summary
        }
        return None if version is None else found[str(version)]

    def in_duckdb(self, name: str, version: int | None) -> pa.Table:
        """The rows that DuckDB reads."""
        at = ""
        if version is not None:
            number = self.snapshot(self.iceberg_table(name), version)
            at = f" AT (VERSION => {number})"
        text = f'FROM {SHARE}.data."{plain(name)}"{at}'
        code = f"import duckdb\nfound = duckdb.sql({text!r})"
        return self.duckdb.rows(code, "found")


def table_of(name: str) -> DeltaTable:
    """A recorded table itself."""
    return DeltaTable(str(GOLDEN / name / "table"))


@pytest.fixture(scope="session", autouse=True)
def _old_times() -> Iterator[None]:
    """Let pyiceberg read times of INT96, which it refuses else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYICEBERG_DOWNCAST_NS_TIMESTAMP_TO_US_ON_WRITE", "true")
        yield


@pytest.fixture(scope="session")
def doors(tmp_path_factory: pytest.TempPathFactory, lake: Path):
    """`deltaweb serve` with every recorded table in one share."""
    home = tmp_path_factory.mktemp("home")
    furnish(home, lake)
    places = {plain(name): str(GOLDEN / name / "table") for name in NAMES}
    indexed = [plain(name) for name in VERSIONS]
    profile = home / "globex.share"
    with serving(home, ready=NO_WORKER, WORKERS="0") as installation:
        installation.command("share", "create", SHARE)
        # One process for all: a command takes a second to start.
        script = SCRIPT.format(share=SHARE, places=places)
        script += INDEX.format(root=str(ROOT), names=indexed)
        installation.manage("shell", "--verbosity", "0", "--command", script)
        installation.command(
            *("recipient", "create", "globex", "--share", SHARE),
            *("--expires", "7d", "--profile", str(profile)),
        )
        text = json.loads(profile.read_text())
        catalog = RestCatalog(
            "lab",
            uri=text["icebergEndpoint"],
            token=text["bearerToken"],
            warehouse=SHARE,
        )
        with closing(_duckdb(tmp_path_factory.mktemp("duckdb"), text)) as duckdb:
            yield Doors(profile, catalog, duckdb)


def _duckdb(folder: Path, profile: dict[str, str]) -> SidecarDuckDB:
    """A DuckDB that has the share attached."""
    started = SidecarDuckDB(folder)
    endpoint, token = profile["icebergEndpoint"], profile["bearerToken"]
    kind = "TYPE iceberg, SECRET key"
    statements = (
        *(f"LOAD {name}" for name in ("avro", "httpfs", "iceberg")),
        "SET TimeZone = 'UTC'",
        f"CREATE SECRET key (TYPE iceberg, TOKEN '{token}')",
        f"ATTACH '{SHARE}' AS {SHARE} ({kind}, ENDPOINT '{endpoint}')",
    )
    code = "\n".join(f"duckdb.sql({text!r})" for text in statements)
    told = started.run(
        f"import duckdb\n{code}\nfound = duckdb.sql('SELECT 1')", "found"
    )
    assert "error" not in told, told
    return started
