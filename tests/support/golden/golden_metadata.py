"""What every golden table records of the metadata of a version."""

from collections.abc import Mapping
from typing import Any

from deltaweb.delta.snapshot import Snapshot


def check_metadata(
    snapshot: Snapshot, recorded: Mapping[str, Any], schemas: Mapping[str, str]
) -> None:
    """Hold the metadata of a version against what was recorded.

    Args:
        snapshot: The version.
        recorded: Its entry in the table's expected.json.
        schemas: Texts of schemas by the names that entries have for them.
    """
    metadata, said = snapshot.metadata, recorded["metadata"]
    assert list(metadata.partition_columns) == recorded["partition_columns"]
    assert metadata.id == said["id"]
    assert metadata.name == said["name"]
    assert metadata.description == said["description"]
    assert metadata.created_time == said["created_time"]
    assert metadata.format.provider == said["format"]
    assert metadata.configuration == said["configuration"]
    assert metadata.schema_string == schemas[recorded["schema"]]
