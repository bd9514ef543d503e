"""The names of the files of a log.

A name that is not exactly of one of these forms is nobody's business: the log folder
of a real table also holds copies, temporary files and other engines' extras.

Source: delta_protocol.md, "Delta Log Entries" and "Checkpoints".
"""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

VERSION_DIGITS: Final = 20
PART_DIGITS: Final = 10
LAST_CHECKPOINT: Final = "_last_checkpoint"
SIDECARS: Final = "_sidecars"
JSON_SUFFIX: Final = ".json"
FIRST_NAME: Final = "0" * VERSION_DIGITS
MAX_VERSION: Final = 2**63 - 1
MANY_NAMES: Final = 1_000

_COMMIT_NAME: Final = f"%0{VERSION_DIGITS}d.json"  # quicker than a format, of many
_COMMIT = re.compile(r"([0-9]{20})\.json", re.ASCII)
_CHECKPOINT = re.compile(
    r"([0-9]{20})\.checkpoint(?:\.([0-9]{10})\.([0-9]{10}))?\.parquet", re.ASCII
)
_UUID_CHECKPOINT = re.compile(
    r"([0-9]{20})\.checkpoint\.[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"(?:\.json|\.parquet)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class CheckpointName:
    """A checkpoint file: part `part` of `parts`, counted from 1.

    Of one version there may be any number that are named by a UUID.
    """

    version: int
    part: int = 1
    parts: int = 1
    is_multi_part: bool = False
    has_uuid: bool = False


def commit_name(version: int) -> str:
    """Return the name of the commit that makes `version`."""
    return _COMMIT_NAME % version


def checkpoint_name(version: int) -> str:
    """Return the name of the single-file checkpoint of `version`."""
    return f"{version:0{VERSION_DIGITS}d}.checkpoint.parquet"


def checkpoint_part_names(version: int, parts: int) -> tuple[str, ...]:
    """Return the names of all files of a multi-part checkpoint, in order."""
    prefix = f"{version:0{VERSION_DIGITS}d}.checkpoint"
    return tuple(
        f"{prefix}.{part:0{PART_DIGITS}d}.{parts:0{PART_DIGITS}d}.parquet"
        for part in range(1, parts + 1)
    )


def uuid_checkpoint_name(version: int, uuid: str, suffix: str) -> str:
    """Return the name of a checkpoint of its own, `suffix` being its format's."""
    return f"{version:0{VERSION_DIGITS}d}.checkpoint.{uuid}{suffix}"


def checksum_name(version: int) -> str:
    """Return the name of the file with the checksum of `version`."""
    return f"{version:0{VERSION_DIGITS}d}.crc"


def version_prefix(version: int) -> str:
    """Return the start that the names of a version's files share."""
    return f"{version:0{VERSION_DIGITS}d}"


def parse_commit_name(name: str) -> int | None:
    """Return the version of a commit's name, None for any other name."""
    match = _COMMIT.fullmatch(name)
    return _version(match[1]) if match else None


def parse_commit_names(names: Sequence[str]) -> list[int | None]:
    """Return `parse_commit_name` of each name; of many names, at once."""
    if len(names) >= MANY_NAMES:
        with contextlib.suppress(UnicodeError, pa.ArrowInvalid):
            texts = pa.array(names, pa.string())
            commits = pc.match_substring_regex(texts, r"\A[0-9]{20}\.json\z")
            digits = pc.utf8_slice_codeunits(texts, 0, VERSION_DIGITS)
            versions = pc.if_else(commits, digits, None).cast(pa.int64())
            found: list[int | None] = versions.to_pylist()
            return found
    return [parse_commit_name(name) for name in names]


def parse_checkpoint_name(name: str) -> CheckpointName | None:
    """Return what the name of a checkpoint file says, None for any other."""
    match = _CHECKPOINT.fullmatch(name)
    if match is None:
        return _parse_uuid_name(name)
    version = _version(match[1])
    if version is None:
        return None
    if match[2] is None:
        return CheckpointName(version)
    part, parts = int(match[2]), int(match[3])
    if not 1 <= part <= parts:
        return None
    return CheckpointName(version, part, parts, is_multi_part=True)


def _parse_uuid_name(name: str) -> CheckpointName | None:
    match = _UUID_CHECKPOINT.fullmatch(name)
    version = _version(match[1]) if match else None
    return None if version is None else CheckpointName(version, has_uuid=True)


def sidecar_name(name: str) -> str:
    """Return the name, within the log, of a file in the folder of sidecars."""
    return f"{SIDECARS}/{name}"


def _version(digits: str) -> int | None:
    """Return the number unless it is beyond what the protocol's long holds."""
    version = int(digits)
    return version if version <= MAX_VERSION else None
