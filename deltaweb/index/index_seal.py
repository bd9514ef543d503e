"""What the files of an index were when it was written: their sizes and checksums.

An index is written without waiting for the disk, so a machine that goes down may leave
a folder with empty files; and disks forget. Pages and recipients have the log beside
them, but an index that goes on from another one would carry a fault on for good. So
whoever goes on from one checks all of it, and reads the log where that is not what was
written; and workers look now and then whether files have their sizes.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SEAL: Final = "seal.json"
READ_BYTES: Final = 1 << 18

Mark = tuple[int, int]
"""Size of a file in bytes, and its CRC-32."""


class SealBrokenError(Exception):
    """A file of an index is not what was written."""

    def __init__(self, *, path: Path) -> None:
        super().__init__(f"{path} is not what was written")


@dataclass(frozen=True, slots=True)
class IndexSeal:
    """The marks of an index.

    Attributes:
        folder: The index.
        marks: By the name of the file; none where the seal itself is spoilt.
    """

    folder: Path
    marks: Mapping[str, Mark]

    def check(self, *names: str) -> None:
        """Read files, and compare them with what was written.

        Raises:
            SealBrokenError: If one is gone or another one, or the seal is.
        """
        for name in names:
            path = self.folder / name
            mark = self.marks.get(name)
            if mark is None or not _has_mark(path, mark):
                raise SealBrokenError(path=path)

    def has_sizes(self) -> bool:
        """Tell whether all files are there in their sizes; none of them is read."""
        return bool(self.marks) and all(
            _size_bytes(self.folder / name) == size_bytes
            for name, (size_bytes, _) in self.marks.items()
        )


def load_seal(folder: Path) -> IndexSeal | None:
    """Read the seal of an index; None where it was written without one."""
    try:
        values = json.loads((folder / SEAL).read_text(encoding="ascii"))
        return IndexSeal(folder, {name: _mark(mark) for name, mark in values.items()})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError):
        return IndexSeal(folder, {})


def write_seal(folder: Path) -> None:
    """Write the marks of all files in a folder; those that have one keep it."""
    marks = _marks(folder)
    for path in sorted(folder.iterdir()):
        if path.name not in {SEAL, *marks}:
            marks[path.name] = _read_mark(path)
    _write(folder, marks)


def mark_file(folder: Path, name: str) -> None:
    """Write the mark of a file that is whole while others of its folder are not."""
    _write(folder, {**_marks(folder), name: _read_mark(folder / name)})


def carry_mark(folder: Path, name: str, source: Path) -> None:
    """Give a folder the mark that a file has in another one, without reading it.

    A fault that nobody has looked for so far is found by whoever looks next.
    """
    seal = load_seal(source)
    if seal is not None and name in seal.marks:
        _write(folder, {**_marks(folder), name: seal.marks[name]})


def _marks(folder: Path) -> dict[str, Mark]:
    seal = load_seal(folder)
    return {} if seal is None else dict(seal.marks)


def _write(folder: Path, marks: Mapping[str, Mark]) -> None:
    (folder / SEAL).write_text(json.dumps(marks), encoding="ascii")


def _mark(values: Any) -> Mark:  # noqa: ANN401 (as JSON gives it)
    size_bytes, checksum = values
    return int(size_bytes), int(checksum)


def _size_bytes(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _has_mark(path: Path, mark: Mark) -> bool:
    try:
        return _read_mark(path) == mark
    except OSError:
        return False


def _read_mark(path: Path) -> Mark:
    return path.stat().st_size, _checksum(path)


def _checksum(path: Path) -> int:
    """Return the CRC-32 of a file: a quarter of a second for each gigabyte."""
    checksum = 0
    buffer = memoryview(bytearray(READ_BYTES))
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            checksum = zlib.crc32(buffer[:count], checksum)
    return checksum
