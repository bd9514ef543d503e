"""What the files of an index were when it was written: their sizes and checksums.

An index is written without waiting for the disk, so a machine that goes down may leave
a folder with empty files; and disks forget. Pages and recipients have the log beside
them, but an incremental update would carry a fault on for good. So an update checks all
of the index, and the log is read where that is not what was written; and workers look
now and then whether files have their sizes.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MANIFEST: Final = "seal.json"  # as the indexes of older releases have it
READ_BYTES: Final = 1 << 18

Checksum = tuple[int, int]
"""Size of a file in bytes, and its CRC-32."""


class CorruptIndexError(Exception):
    """A file of an index is not what was written."""

    def __init__(self, *, path: Path) -> None:
        super().__init__(f"{path} is not what was written")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The sizes and checksums of an index.

    Attributes:
        folder: The index.
        files: By the name of the file; none where the manifest itself is corrupt.
    """

    folder: Path
    files: Mapping[str, Checksum]

    def check(self, *names: str) -> None:
        """Read files, and compare them with what was written.

        Raises:
            CorruptIndexError: If one is gone or another one, or the manifest is.
        """
        for name in names:
            path = self.folder / name
            known = self.files.get(name)
            if known is None or not _is_unchanged(path, known):
                raise CorruptIndexError(path=path)

    def has_sizes(self) -> bool:
        """Tell whether all files are there in their sizes; none of them is read."""
        return bool(self.files) and all(
            _size_bytes(self.folder / name) == size_bytes
            for name, (size_bytes, _) in self.files.items()
        )


def load_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of an index; None where it was written without one."""
    try:
        values = json.loads((folder / MANIFEST).read_text(encoding="ascii"))
        return Manifest(folder, {name: _parse(known) for name, known in values.items()})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError):
        return Manifest(folder, {})


def write_manifest(folder: Path) -> None:
    """Write the manifest of all files in a folder; those that are in it stay so."""
    files = _files(folder)
    for path in sorted(folder.iterdir()):
        if path.name not in {MANIFEST, *files}:
            files[path.name] = _read(path)
    _write(folder, files)


def add_checksum(folder: Path, name: str) -> None:
    """Add a file that is whole while others of its folder are not."""
    _write(folder, {**_files(folder), name: _read(folder / name)})


def carry_checksum(folder: Path, name: str, source: Path) -> None:
    """Add a file as another folder has it, without reading it.

    A fault that was not looked for so far is found by the next look.
    """
    manifest = load_manifest(source)
    if manifest is not None and name in manifest.files:
        _write(folder, {**_files(folder), name: manifest.files[name]})


def _files(folder: Path) -> dict[str, Checksum]:
    manifest = load_manifest(folder)
    return {} if manifest is None else dict(manifest.files)


def _write(folder: Path, files: Mapping[str, Checksum]) -> None:
    (folder / MANIFEST).write_text(json.dumps(files), encoding="ascii")


def _parse(values: Any) -> Checksum:  # noqa: ANN401 (as JSON gives it)
    size_bytes, checksum = values
    return int(size_bytes), int(checksum)


def _size_bytes(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _is_unchanged(path: Path, known: Checksum) -> bool:
    try:
        return _read(path) == known
    except OSError:
        return False


def _read(path: Path) -> Checksum:
    return path.stat().st_size, _checksum(path)


def _checksum(path: Path) -> int:
    """Return the CRC-32 of a file: a quarter of a second for each gigabyte."""
    checksum = 0
    buffer = memoryview(bytearray(READ_BYTES))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            checksum = zlib.crc32(buffer[:count], checksum)
    return checksum
