"""The claims of the registry of clients about the recorded tables.

`python -m tests.functional.sharing_clients.every_door.registry` writes what is in
`faults` to `docs/clients.json`, from which the manual has a table.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from deltaweb.delta.features.known.readings import direct_readings
from deltaweb.delta.features.known.usage import VersionFacts
from deltaweb.delta.features.registry import required_features
from deltaweb.iceberg.clients import iceberg_readings
from deltaweb.sharing.clients import client_readings
from tests.functional.sharing_clients.every_door.faults import (
    FAULTS,
    UNREADABLE,
    Client,
    Fault,
)
from tests.functional.sharing_clients.every_door.plain_faults import (
    PLAIN_CLIENTS,
    PLAIN_FAULTS,
    PLAIN_TABLES,
)
from tests.support.golden.golden_tables import NAMES, golden_table
from tests.support.peers.daft_runner import RELEASE
from tests.support.peers.duckdb_runner import PACKAGES
from tests.support.peers.spark_iceberg import ICEBERG
from tests.support.processes.installation import ROOT

RESULTS: Final = Path(ROOT) / "docs" / "clients.json"
KNOWN_AS: Final[Mapping[Client, str]] = {
    Client.PYICEBERG: "PyIceberg",
    Client.BY_IDS: "PyIceberg",
    Client.POLARS: "Polars with Iceberg",
    Client.DAFT: "Daft",
    Client.DUCKDB: "DuckDB with Iceberg",
    Client.SPARK: "Spark with Iceberg",
    Client.DELTA: "pandas",
    Client.POWER_BI: "Power BI",
    Client.DELTALAKE: "deltalake",
}
"""The name of each client in the registry."""
NOT_MEASURED: Final = {
    "Power BI": (
        "its connector runs on Windows alone; a test sends the requests that its "
        "documentation describes, and reads the answers as it does"
    ),
    "Spark, delta-sharing-spark": "the registry has no release for this Spark",
    "R, delta.sharing": "no registry of the project has packages of R",
    "Go, go_delta_sharing_client": "the module proxy refuses the module",
    "Node.js, delta-sharing 0.0.2": (
        "it is a beta of 2023, needs a build of TensorFlow and a package from outside "
        "the registry, and leaves out partition columns"
    ),
    "Rust, delta-sharing and datafusion-delta-sharing": (
        "a build takes longer than the tests may"
    ),
    "Plain files of other tables": (
        "on 2026-11-30, clients read those tables of this project as plain files that "
        "some client does not read as stored"
    ),
    "Databricks and Trino": "they are services, and no packages",
}


@cache
def said_of(name: str) -> dict[str, bool]:
    """Return, by the name of each client, whether a page says that it reads a table."""
    snapshot = golden_table(name).snapshot()
    facts = (snapshot.protocol, snapshot.metadata, snapshot.schema)
    has_vectors = snapshot.files["dv_id"].null_count < snapshot.num_files
    readings = [
        *client_readings(*facts, has_deletion_vectors=has_vectors),
        *iceberg_readings(*facts, has_deletion_vectors=has_vectors),
    ]
    direct = direct_readings(
        required_features(snapshot.protocol), VersionFacts(*facts, None)
    )
    return {
        **{one.client.name: one.reads for one in direct},
        **{one.name: one.can_read for one in readings},
    }


def said_of_plain(name: str) -> dict[str, bool]:
    """As `said_of`, of the clients at our doors, where recipients get plain files."""
    snapshot = golden_table(name).snapshot()
    facts = (snapshot.protocol, snapshot.metadata, snapshot.schema)
    readings = [
        *client_readings(*facts, has_deletion_vectors=None, is_plain=True),
        *iceberg_readings(*facts, has_deletion_vectors=None, is_plain=True),
    ]
    return {one.name: one.can_read for one in readings}


def results() -> dict[str, Any]:
    """Return what was measured, as `docs/clients.json` has it."""
    readable = {*NAMES} - {*UNREADABLE}
    return {
        "measured_on": datetime.now(UTC).date().isoformat(),
        "num_tables": len(readable),
        "clients": [
            {
                "client": str(client),
                "version": release,
                "read": sum((client, name) not in FAULTS for name in readable),
                "faults": _faults(client, FAULTS),
            }
            for client, release in _releases().items()
        ]
        + [
            {
                "client": f"{client}, {len(PLAIN_TABLES)} tables as plain files",
                "version": release,
                "read": sum(
                    (client, name) not in PLAIN_FAULTS for name in PLAIN_TABLES
                ),
                "faults": _faults(client, PLAIN_FAULTS),
            }
            for client, release in _releases().items()
            if client in PLAIN_CLIENTS
        ],
        "not_measured": NOT_MEASURED,
    }


def _releases() -> dict[Client, str]:
    duckdb = next(PACKAGES.glob("duckdb-*.dist-info")).stem.partition("-")[2]
    return {
        Client.PARQUET: version("delta-sharing"),
        Client.DELTA: version("delta-sharing"),
        Client.POWER_BI: "none",
        Client.PYICEBERG: version("pyiceberg"),
        Client.BY_IDS: version("pyiceberg"),
        Client.POLARS: version("polars"),
        Client.DAFT: RELEASE,
        Client.DUCKDB: duckdb,
        Client.SPARK: ICEBERG,
        Client.DELTALAKE: version("deltalake"),
    }


def _faults(
    client: Client, faults: Mapping[tuple[Client, str], Fault]
) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for (who, name), fault in faults.items():
        if who == client:
            row = {"why": fault.why, "foreseen": fault.is_foreseen, "tables": []}
            found.setdefault(fault.why, row)["tables"].append(name)
    return list(found.values())


if __name__ == "__main__":
    text = json.dumps(results(), indent=1, ensure_ascii=False)
    RESULTS.write_text(f"{text}\n", encoding="utf-8")
