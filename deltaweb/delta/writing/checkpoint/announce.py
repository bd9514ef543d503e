"""A checkpoint that is whole: its files become visible, and then it is named.

One of the second specification names its files itself. Their names are their own, so
that nobody writes over them, and nothing is in the way.

Source: delta_protocol.md, "V2 Spec" and "UUID-named checkpoint".
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import pyarrow as pa

from deltaweb.delta.log.paths import (
    SIDECARS,
    CheckpointName,
    parse_checkpoint_name,
    sidecar_name,
)
from deltaweb.delta.log.store import LogStore, PendingFile
from deltaweb.delta.writing.checkpoint.last_checkpoint import (
    LastCheckpoint,
    OwnFile,
    write_last_checkpoint,
)
from deltaweb.delta.writing.checkpoint.present_parts import make_way
from deltaweb.delta.writing.checkpoint.request import WrittenCheckpoint


@dataclass(frozen=True, slots=True)
class PreparedCheckpoint:
    """A checkpoint whose files are whole and durable, none of them visible.

    Attributes:
        manifest: What the first of the files holds, where that names the others.
    """

    version: int
    names: tuple[str, ...]
    num_actions: int
    num_files: int
    num_tombstones: int
    size_bytes: int
    made_ms: int
    schema: pa.Schema
    manifest: bytes | None = None


def announce(
    store: LogStore, prepared: PreparedCheckpoint, files: Sequence[PendingFile]
) -> WrittenCheckpoint:
    """Put the files of a checkpoint in place, and then name it in the hint."""
    make_way(store, prepared.version, prepared.names)
    for file in files:
        file.commit()
    if prepared.manifest is not None:
        store.put_if_absent(prepared.names[0], prepared.manifest)
    named = parse_checkpoint_name(prepared.names[0]) or CheckpointName(prepared.version)
    own_bytes = prepared.size_bytes
    if prepared.manifest is not None:
        own_bytes = len(prepared.manifest)
    hint = LastCheckpoint(
        version=prepared.version,
        num_actions=prepared.num_actions,
        parts=len(prepared.names) if named.is_multi_part else None,
        size_bytes=prepared.size_bytes,
        num_files=prepared.num_files,
        schema=prepared.schema if prepared.manifest is None else None,
        own_file=OwnFile(prepared.names[0], own_bytes, prepared.made_ms)
        if named.has_uuid
        else None,
    )
    is_last = write_last_checkpoint(store, hint)
    return WrittenCheckpoint(
        version=prepared.version,
        names=prepared.names,
        num_actions=prepared.num_actions,
        num_files=prepared.num_files,
        num_tombstones=prepared.num_tombstones,
        size_bytes=prepared.size_bytes,
        is_last=is_last,
    )


# === Checkpoints that name their files ===


def new_sidecar_names(count: int) -> tuple[str, ...]:
    """Return names for files with file actions that no other file has."""
    return tuple(sidecar_name(f"{uuid4()}.parquet") for _ in range(count))


def is_second_spec(name: str) -> bool:
    """Return whether a file of a checkpoint is of one of the second specification."""
    named = parse_checkpoint_name(name)
    return name.startswith(SIDECARS) or (named is not None and named.has_uuid)


def with_manifest(
    prepared: PreparedCheckpoint,
    name: str,
    *,
    rare: pa.Table,
    sizes: Sequence[int],
) -> PreparedCheckpoint:
    """Return a checkpoint with the file that names those which are whole."""
    actions = [
        {kind: fields}
        for row in rare.to_pylist(maps_as_pydicts="strict")
        for kind, fields in row.items()
        if fields is not None
    ]
    actions += [
        {
            "sidecar": {
                "path": sidecar.removeprefix(f"{SIDECARS}/"),
                "sizeInBytes": size,
                "modificationTime": prepared.made_ms,
            }
        }
        for sidecar, size in zip(prepared.names, sizes, strict=True)
    ]
    data = b"".join(_line(action) for action in actions)
    return replace(
        prepared,
        names=(name, *prepared.names),
        num_actions=prepared.num_actions + len(actions),
        size_bytes=prepared.size_bytes + len(data),
        manifest=data,
    )


def _line(action: dict[str, Any]) -> bytes:
    """Return an action as a line; what it does not say is left out."""
    return json.dumps(_said(action), separators=(",", ":")).encode() + b"\n"


def _said(value: Any) -> Any:  # noqa: ANN401 (any JSON)
    if isinstance(value, dict):
        return {name: _said(part) for name, part in value.items() if part is not None}
    return value
