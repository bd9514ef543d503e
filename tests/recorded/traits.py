"""The names for what a recorded table shows, found in its log."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

TYPES: Final = {
    "array": "array",
    "binary": "binary",
    "date": "date",
    "decimal": "decimal",
    "map": "map",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp-ntz",
    "variant": "variant",
    "void": "void",
}
FEATURES: Final = {
    "clustering": "clustering",
    "deletionVectors": "deletion-vectors",
    "domainMetadata": "domain-metadata",
    "inCommitTimestamp": "in-commit-timestamp",
    "rowTracking": "row-tracking",
    "typeWidening": "type-widening",
}
ACTIONS: Final = {"cdc": "cdc-files", "txn": "txn"}
MAPPING: Final = "delta.columnMapping.mode"


def traits(
    folder: Path,
    versions: Mapping[str, Mapping[str, Any]],
    schemas: Mapping[str, str],
    commits: Mapping[int, list[dict[str, Any]]],
) -> list[str]:
    """Return the names, sorted.

    Args:
        folder: The table.
        versions: What is recorded of each version.
        schemas: The schemas by the names that versions have for them.
        commits: The actions of each commit.
    """
    found = {*_of_log(folder / "_delta_log"), *_of_versions([*versions.values()])}
    for text in schemas.values():
        found |= {*_of_type(json.loads(text), is_column=False)}
    for action in (action for actions in commits.values() for action in actions):
        ((kind, values),) = action.items()
        if kind in ACTIONS:
            found.add(ACTIONS[kind])
        if kind == "add":
            parts = values["partitionValues"].values()
            found |= {"null-partition"} if None in parts else set()
            found |= {"percent-encoded-path"} if "%" in values["path"] else set()
    if 0 not in {int(path.stem[:20]) for path in _commits(folder / "_delta_log")}:
        found.add("truncated-log")
    return sorted(found)


def _commits(log: Path) -> Iterator[Path]:
    return (path for path in log.glob("*.json") if path.stem.isdigit())


def _of_log(log: Path) -> Iterator[str]:
    names = [
        path.name.split(".") for path in log.iterdir() if "checkpoint" in path.name
    ]
    for _, *parts in (name for name in names if name[0].isdigit()):
        if len(parts) == 2:
            yield "checkpoint-classic"
        else:
            yield "checkpoint-multipart" if parts[1].isdigit() else "checkpoint-v2"
    if [*log.glob("*.crc")]:
        yield "crc"


def _of_versions(versions: list[Mapping[str, Any]]) -> Iterator[str]:
    for version in versions:
        protocol, configuration = (
            version["protocol"],
            version["metadata"]["configuration"],
        )
        yield f"r{protocol['minReaderVersion']}w{protocol['minWriterVersion']}"
        named = protocol.get("writerFeatures", ())
        yield from (FEATURES[name] for name in named if name in FEATURES)
        if version["partition_columns"]:
            yield "partitioned"
        if configuration.get(MAPPING, "none") != "none":
            yield f"column-mapping-{configuration[MAPPING]}"
        if configuration.get("delta.enableChangeDataFeed") == "true":
            yield "cdf"
    if len({version["schema"] for version in versions}) > 1:
        yield "schema-evolution"


def _of_type(kind: Any, *, is_column: bool = True) -> Iterator[str]:  # noqa: ANN401 (JSON)
    if isinstance(kind, str):
        if (name := kind.partition("(")[0]) in TYPES:
            yield TYPES[name]
        return
    if kind["type"] == "struct":
        if is_column:
            yield "nested-struct"
        yield from _of_all(field["type"] for field in kind["fields"])
        return
    yield TYPES[kind["type"]]
    parts = [kind.get(name) for name in ("elementType", "keyType", "valueType")]
    yield from _of_all(part for part in parts if part is not None)


def _of_all(kinds: Iterable[Any]) -> Iterator[str]:
    for kind in kinds:
        yield from _of_type(kind)
