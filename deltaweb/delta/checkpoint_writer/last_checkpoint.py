"""The hint where the newest checkpoint is.

Source: delta_protocol.md, "Last Checkpoint File".
"""

import json
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.log_path import LAST_CHECKPOINT
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
    """Write the hint unless the one that is there names a newer version.

    Returns:
        Whether it was written.
    """
    written = False

    def change(before: bytes | None) -> bytes | None:
        nonlocal written
        version = parse_hint_version(before)
        if version is not None and version > hint.version:
            return None
        written = True
        return hint.to_json()

    store.update(LAST_CHECKPOINT, change)
    return written


def parse_hint_version(data: bytes | None) -> int | None:
    """Return the version that a hint names, None for none and for a broken one."""
    try:
        hint = json.loads(data or b"")
    except (ValueError, RecursionError):
        return None
    version = hint.get("version") if isinstance(hint, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        return None
    return version if 0 <= version <= LARGEST else None
