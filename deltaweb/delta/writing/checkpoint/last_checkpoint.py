"""The hint where the newest checkpoint is.

Source: delta_protocol.md, "Last Checkpoint File".
"""

import json
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa

from deltaweb.delta.log.hint import CHECKSUM, checksum_of, load_hint
from deltaweb.delta.log.paths import LAST_CHECKPOINT
from deltaweb.delta.log.segment import list_log
from deltaweb.delta.log.store import LogStore
from deltaweb.delta.protocol.schema import schema_json, schema_of_arrow

LARGEST: Final = 2**63 - 1
MAX_SCHEMA_LENGTH: Final = 20_000
"""Readers read the hint for every version: a longer schema is left to the footers."""


class OwnFile(NamedTuple):
    """A checkpoint file whose name is its own: with a UUID.

    `size_bytes` is of it alone, `made_ms` milliseconds since the Unix epoch.
    """

    name: str
    size_bytes: int
    made_ms: int


@dataclass(frozen=True, slots=True)
class LastCheckpoint:
    """What the hint says of a checkpoint.

    Attributes:
        parts: Its files; None for a single one.
        size_bytes: Bytes of its files; None where they were not counted.
        num_files: Its live files; None where they were not counted.
        schema: The columns of its files; None where they are not all alike, or not
            known.
        own_file: Its file, where that is of the second specification.
    """

    version: int
    num_actions: int
    parts: int | None = None
    size_bytes: int | None = None
    num_files: int | None = None
    schema: pa.Schema | None = None
    own_file: OwnFile | None = None

    def to_json(self) -> bytes:
        """Return the hint as the file has it, with its checksum."""
        fields: dict[str, Any] = {
            "version": self.version,
            "size": self.num_actions,
            "parts": self.parts,
            "sizeInBytes": self.size_bytes,
            "numOfAddFiles": self.num_files,
            "checkpointSchema": _schema_json(self.schema),
        }
        if self.own_file is not None:
            name, size_bytes, made_ms = self.own_file
            fields["v2Checkpoint"] = {
                "path": name,
                "sizeInBytes": size_bytes,
                "modificationTime": made_ms,
            }
        known = {name: value for name, value in fields.items() if value is not None}
        checksum = checksum_of(json.dumps(known).encode())
        known[CHECKSUM] = checksum
        return json.dumps(known, separators=(",", ":")).encode()


def _schema_json(schema: pa.Schema | None) -> object:
    """Return columns as the log tells them; None for more than a hint should hold."""
    if schema is None:
        return None
    found = schema_json(schema_of_arrow(schema))
    return found if len(json.dumps(found)) <= MAX_SCHEMA_LENGTH else None


def write_last_checkpoint(store: LogStore, hint: LastCheckpoint) -> bool:
    """Write the hint unless the one that is there names a newer checkpoint.

    One whose checkpoint is not there, as after a restore from a backup, is replaced:
    it would stay for ever, and some readers fail on it.

    Returns:
        Whether it was written.
    """
    written = False

    def change(before: bytes | None) -> bytes | None:
        nonlocal written
        newer = parse_hint(before)
        if newer and newer.version > hint.version and has_checkpoint(store, newer):
            return None
        written = True
        return hint.to_json()

    store.update(LAST_CHECKPOINT, change)
    return written


@dataclass(frozen=True, slots=True)
class NamedCheckpoint:
    """What a hint of any writer names."""

    version: int
    parts: int | None


def parse_hint(data: bytes | None) -> NamedCheckpoint | None:
    """Return what a hint names, None for none and for a broken one."""
    hint = load_hint(data)
    if hint is None:
        return None
    version, parts = (_whole_number(hint.get(name)) for name in ("version", "parts"))
    return None if version is None else NamedCheckpoint(version, parts)


def has_checkpoint(store: LogStore, named: NamedCheckpoint) -> bool:
    """Tell whether the log has all files of what a hint names, by their names."""
    listing = list_log(store, named.version)
    return any(
        checkpoint.version == named.version
        and named.parts in {None, len(checkpoint.names)}
        for checkpoint in listing.checkpoints
    )


def _whole_number(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= LARGEST else None
