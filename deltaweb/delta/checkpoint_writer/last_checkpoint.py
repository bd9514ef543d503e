"""The hint where the newest checkpoint is.

Source: delta_protocol.md, "Last Checkpoint File".
"""

import json
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.log_path import LAST_CHECKPOINT
from deltaweb.delta.log_segment import list_log
from deltaweb.delta.log_store import LogStore

LARGEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LastCheckpoint:
    """What the hint says of a checkpoint.

    Attributes:
        version: Its version.
        num_actions: Its actions.
        parts: Its files; None for a single one.
        size_bytes: Bytes of its files; None where they were not counted.
        num_files: Its live files; None where they were not counted.
    """

    version: int
    num_actions: int
    parts: int | None = None
    size_bytes: int | None = None
    num_files: int | None = None

    def to_json(self) -> bytes:
        """Return the hint as the file has it."""
        fields = {
            "version": self.version,
            "size": self.num_actions,
            "parts": self.parts,
            "sizeInBytes": self.size_bytes,
            "numOfAddFiles": self.num_files,
        }
        known = {name: value for name, value in fields.items() if value is not None}
        return json.dumps(known, separators=(",", ":")).encode()


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
    """What a hint of any writer names.

    Attributes:
        version: The version.
        parts: How many files; None where the hint does not say.
    """

    version: int
    parts: int | None


def parse_hint(data: bytes | None) -> NamedCheckpoint | None:
    """Return what a hint names, None for none and for a broken one."""
    try:
        hint = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(hint, dict):
        return None
    version, parts = (_whole_number(hint.get(name)) for name in ("version", "parts"))
    return None if version is None else NamedCheckpoint(version, parts)


def has_checkpoint(store: LogStore, named: NamedCheckpoint) -> bool:
    """Tell whether the log has all files of what a hint names, by their names."""
    listing = list_log(store, named.version)
    return named.version in listing.later_checkpoints or any(
        checkpoint.version == named.version
        and named.parts in {None, len(checkpoint.names)}
        for checkpoint in listing.checkpoints
    )


def _whole_number(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= LARGEST else None
