"""What the files of an index were when it was written: their sizes and checksums.

An index is written without waiting for the disk, so a machine that goes down may leave
a folder with empty files; and disks forget. Pages and recipients have the log beside
them, but an incremental update would carry a fault on for good. So an update checks
what was written since the update before, and of the parts that are kept from index to
index one in turn; the log is read where a file is not what was written. And workers
look now and then whether files have their sizes.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

MANIFEST: Final = "seal.json"  # as the indexes of older releases have it
READ_BYTES: Final = 1 << 18


class Checksum(NamedTuple):
    """What a file was when it was written.

    Attributes:
        look: Which look at its index was the last to find it so; 0 for none.
    """

    size_bytes: int
    crc: int
    look: int = 0


class CorruptIndexError(Exception):
    """A file of an index is not what was written."""

    def __init__(self, *, path: Path) -> None:
        super().__init__(f"{path} is not what was written")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The sizes and checksums of an index.

    Attributes:
        files: By the name of the file; none where the manifest itself is corrupt.
    """

    folder: Path
    files: Mapping[str, Checksum]

    def check(self, *names: str) -> None:
        """Read files, and compare them with what was written."""
        for name in names:
            path = self.folder / name
            known = self.files.get(name)
            if known is None or not _is_unchanged(path, known):
                raise CorruptIndexError(path=path)

    def check_parts(self, *names: str) -> "Manifest":
        """Check the parts that no look has read, and the one whose look is longest ago.

        Returns:
            The manifest that says so.
        """
        looks = {name: self.files[name].look for name in names if name in self.files}
        seen = [name for name in names if looks.get(name)]
        longest_ago = sorted(seen, key=lambda name: looks[name])[:1]
        read = [*longest_ago, *(name for name in names if not looks.get(name))]
        self.check(*read)
        look = 1 + max(known.look for known in self.files.values())
        new = {name: self.files[name]._replace(look=look) for name in read}
        return Manifest(self.folder, {**self.files, **new})

    def has_sizes(self) -> bool:
        """Tell whether all files are there in their sizes; none of them is read."""
        return bool(self.files) and all(
            _size_bytes(self.folder / name) == known.size_bytes
            for name, known in self.files.items()
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
    known = _files(folder)
    paths = [path for path in sorted(folder.iterdir()) if path.name != MANIFEST]
    new = [path for path in paths if path.name not in known]
    add_checksums(folder, {path.name: read_checksum(path) for path in new})


def add_checksums(folder: Path, checksums: Mapping[str, Checksum]) -> None:
    """Add files that are whole while others of their folder are not."""
    files = {**_files(folder), **checksums}
    (folder / MANIFEST).write_text(json.dumps(files), encoding="ascii")


def read_checksum(path: Path) -> Checksum:
    return Checksum(path.stat().st_size, _crc(path))


def _files(folder: Path) -> dict[str, Checksum]:
    manifest = load_manifest(folder)
    return {} if manifest is None else dict(manifest.files)


def _parse(values: Any) -> Checksum:  # noqa: ANN401 (as JSON gives it)
    size_bytes, crc, *look = values
    return Checksum(int(size_bytes), int(crc), *map(int, look))


def _size_bytes(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _is_unchanged(path: Path, known: Checksum) -> bool:
    try:
        return known[:2] == read_checksum(path)[:2]
    except OSError:
        return False


def _crc(path: Path) -> int:
    """Return the CRC-32 of a file: a quarter of a second for each gigabyte."""
    checksum = 0
    buffer = memoryview(bytearray(READ_BYTES))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            checksum = zlib.crc32(buffer[:count], checksum)
    return checksum
