"""A table of two mapped columns whose metadata has domains, clustering among them."""

import json
from pathlib import Path

from tests.support.logs.delta_logs import Action, LogBuilder, metadata, protocol

CLUSTERING = "delta.clustering"
SCHEMA = {
    "type": "struct",
    "fields": [
        {
            "name": name,
            "type": "integer",
            "nullable": True,
            "metadata": {
                "delta.columnMapping.id": number,
                "delta.columnMapping.physicalName": f"col-{name}",
            },
        }
        for number, name in enumerate(("a", "b"), 1)
    ],
}
FEATURES = ["clustering", "domainMetadata", "columnMapping"]


def domain(name: str, configuration: str, *, is_removed: bool = False) -> Action:
    said = {"domain": name, "configuration": configuration, "removed": is_removed}
    return {"domainMetadata": said}


def clustered_by(*columns: str) -> Action:
    paths = [[f"col-{name}"] for name in columns]
    return domain(CLUSTERING, json.dumps({"clusteringColumns": paths}))


def clustered_table(
    folder: Path, *actions: Action, features: list[str] = FEATURES
) -> str:
    start = (
        protocol(2, 7, writerFeatures=features),
        metadata(
            schemaString=json.dumps(SCHEMA),
            configuration={"delta.columnMapping.mode": "name"},
        ),
    )
    return str(LogBuilder().commit(0, *start, *actions).on_disk(folder / "table"))
