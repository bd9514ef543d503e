"""What the commits of a table say of each version, by a small reader of its own.

It shares no code with the product, and knows what the writers here write.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

Action = Mapping[str, Any]
Key = tuple[str, str | None]
"""A path and the vector of its deleted rows."""


@dataclass
class State:
    """All that the commits up to one say."""

    files: dict[Key, Action] = field(default_factory=dict)
    removed: set[Key] = field(default_factory=set)
    protocol: Action = field(default_factory=dict)
    metadata: Action = field(default_factory=dict)
    transactions: dict[str, int] = field(default_factory=dict)

    def take(self, action: Mapping[str, Action]) -> None:
        """Apply an action of the next commit."""
        ((kind, values),) = action.items()
        if kind == "add":
            self.files[_key(values)] = values
            self.removed.discard(_key(values))
        elif kind == "remove":
            self.files.pop(_key(values), None)
            self.removed.add(_key(values))
        elif kind == "protocol":
            self.protocol = values
        elif kind == "metaData":
            self.metadata = values
        elif kind == "txn":
            self.transactions[values["appId"]] = values["version"]

    def said(self) -> dict[str, Any]:
        """Return what is recorded of the version."""
        paths = sorted(path for path, _ in self.files)
        vectors = [one for one in map(_vector, self.files.values()) if one]
        metadata, protocol = self.metadata, self.protocol
        features = {
            name: sorted(protocol[name])
            for name in ("readerFeatures", "writerFeatures")
            if name in protocol
        }
        return {
            "num_files": len(paths),
            "total_bytes": sum(one["size"] for one in self.files.values()),
            "paths": paths,
            "paths_sha256": sha256("\n".join(paths).encode()).hexdigest(),
            "partition_columns": metadata["partitionColumns"],
            "metadata": {
                "id": metadata["id"],
                "name": metadata.get("name"),
                "description": metadata.get("description"),
                "created_time": metadata["createdTime"],
                "format": metadata["format"]["provider"],
                "configuration": metadata["configuration"],
            },
            "schema": schema_id(metadata["schemaString"]),
            "protocol": {
                "minReaderVersion": protocol["minReaderVersion"],
                "minWriterVersion": protocol["minWriterVersion"],
                **features,
            },
            "tombstones": {
                "from_json_replay": len(self.removed),
                "from_newest_checkpoint": None,
            },
            "txns": dict(self.transactions),
            "dv_files": len(vectors),
            "dv_deleted_rows": sum(one["cardinality"] for one in vectors),
        }


def schema_id(schema_string: str) -> str:
    """Return the name of a schema in a record."""
    return sha256(schema_string.encode()).hexdigest()[:12]


def read_commits(folder: Path) -> dict[int, list[dict[str, Any]]]:
    """Return the actions of each commit, the oldest first."""
    return {
        int(path.stem): [json.loads(line) for line in path.read_bytes().splitlines()]
        for path in sorted(folder.glob("*.json"))
    }


def replay(commits: Mapping[int, list[dict[str, Any]]]) -> Iterator[tuple[int, State]]:
    """Yield the one state, as it is after each commit."""
    state = State()
    for version, actions in commits.items():
        for action in actions:
            state.take(action)
        yield version, state


def _vector(file: Action) -> Action | None:
    found: Action | None = file.get("deletionVector")
    return found


def _key(file: Action) -> Key:
    vector = _vector(file)
    if vector is None:
        return file["path"], None
    names = ("storageType", "pathOrInlineDv", "offset")
    return file["path"], "".join(str(vector.get(name, "")) for name in names)
