"""What every golden table records of a version."""

import hashlib
from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc

from deltaweb.delta.snapshot import Snapshot


def check_version(
    snapshot: Snapshot, recorded: Mapping[str, Any], schemas: Mapping[str, str]
) -> None:
    """Hold files, metadata, protocol and transactions against what was recorded.

    Args:
        snapshot: The version.
        recorded: Its entry in the table's expected.json.
        schemas: Texts of schemas by the names that entries have for them.
    """
    paths = paths_of(snapshot)
    digest = hashlib.sha256("\n".join(paths).encode()).hexdigest()
    assert snapshot.num_files == len(paths) == recorded["num_files"]
    assert paths == recorded.get("paths", paths)
    assert digest == recorded["paths_sha256"]
    sizes = pc.sum(snapshot.files["size"]).as_py() or 0
    assert snapshot.size_bytes == sizes == recorded["total_bytes"]
    _check_metadata(snapshot, recorded, schemas)
    protocol, told = snapshot.protocol, recorded["protocol"]
    assert protocol.min_reader_version == told["minReaderVersion"]
    assert protocol.min_writer_version == told["minWriterVersion"]
    assert sorted(protocol.reader_features or ()) == sorted(
        told.get("readerFeatures") or ()
    )
    assert sorted(protocol.writer_features or ()) == sorted(
        told.get("writerFeatures") or ()
    )
    transactions = {name: one.version for name, one in snapshot.transactions.items()}
    assert transactions == recorded.get("txns", {})


def paths_of(snapshot: Snapshot) -> list[str]:
    """Return the paths of the files of a version, in order."""
    return sorted(snapshot.files["path"].to_pylist())


def _check_metadata(
    snapshot: Snapshot, recorded: Mapping[str, Any], schemas: Mapping[str, str]
) -> None:
    metadata, said = snapshot.metadata, recorded["metadata"]
    assert list(metadata.partition_columns) == recorded["partition_columns"]
    assert metadata.id == said["id"]
    assert metadata.name == said["name"]
    assert metadata.description == said["description"]
    assert metadata.created_time == said["created_time"]
    assert metadata.format.provider == said["format"]
    assert metadata.configuration == said["configuration"]
    assert metadata.schema_string == schemas[recorded["schema"]]
