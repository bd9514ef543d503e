"""The columnar files of an index, in parts: what stays is linked, not written again.

    commits.arrow  commits.1.arrow  commits.2.arrow

A part is never changed. The next index links those of the one before whose rows stay,
and writes the others and what is new behind them, so that one commit more costs little,
however long the history. Rows of a history are replaced by a later part: of a version
that two parts hold, the later one counts. An index of before there were parts is one of
a single part.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.index.folder.manifest import (
    Checksum,
    add_checksums,
    load_manifest,
    read_checksum,
)

PART_ROWS: Final = 32_768  # of a part at most: so much is written again, or checked
KEPT_ROWS: Final = 8_192  # a smaller part is written again, lest there be too many


class IndexMissingError(Exception):
    """The index folder is not there, not whole, or not readable."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptPart:
    """A part of an index before, whose rows stay.

    Attributes:
        rows: Its rows, mapped, for who looks at them on their way.
    """

    path: Path
    checksum: Checksum
    rows: Sequence[pa.RecordBatch] = ()

    @property
    def num_rows(self) -> int:
        return sum(batch.num_rows for batch in self.rows)


Piece: TypeAlias = "KeptPart | pa.RecordBatch"
"""What a columnar file is written of."""


def is_worth_keeping(num_rows: int) -> bool:
    """Tell whether a part of so many rows stays, if more rows come."""
    return num_rows >= KEPT_ROWS


def part_names(folder: Path, name: str) -> list[str]:
    """Return the files of an index that make one columnar file, in their order.

    Args:
        folder: The index; its manifest has them, or, without one, the folder.
    """
    manifest = load_manifest(folder)
    known = {} if manifest is None else manifest.files
    names = set(known if name in known else _listed(folder))
    found = [name]
    while (following := _part_name(name, len(found))) in names:
        found.append(following)
    return found


def size_bytes(folder: Path, name: str) -> int:
    """Return the size of a columnar file, all parts of it."""
    return sum((folder / part).stat().st_size for part in part_names(folder, name))


def map_parts(folder: Path, name: str) -> list[pa.RecordBatchFileReader]:
    """Memory-map the parts of a columnar file."""
    paths = [folder / part for part in part_names(folder, name)]
    return [pa.ipc.open_file(pa.memory_map(str(path))) for path in paths]


def map_table(folder: Path, name: str) -> pa.Table:
    """Memory-map a columnar file; the mapping outlives the folder."""
    return pa.concat_tables([part.read_all() for part in map_parts(folder, name)])


def map_history(
    folder: Path, name: str, schema: pa.Schema
) -> list[list[pa.RecordBatch]]:
    """Memory-map a file of the history by its parts, without replaced rows."""
    try:
        readers = map_parts(folder, name)
        parts = [
            [*map(one.get_batch, range(one.num_record_batches))] for one in readers
        ]
        for batch in (batch for part in parts for batch in part):
            batch.validate()
    except (OSError, pa.ArrowException) as error:
        raise IndexMissingError(str(folder / name)) from error
    if not all(one.schema.equals(schema) for one in readers):
        raise IndexMissingError(str(folder / name))
    parts = [[batch for batch in part if batch.num_rows] for part in parts]
    current = [
        [*_before(part, following)] for part, following in pairwise([*parts, []])
    ]
    if not all(current[:-1]):
        raise IndexMissingError(str(folder / name))
    return current


def map_batches(folder: Path, name: str, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Return the same as rows that ascend by version."""
    return [batch for part in map_history(folder, name, schema) for batch in part]


def write_parts(
    folder: Path, name: str, schema: pa.Schema, pieces: Iterable[Piece]
) -> None:
    """Write a columnar file, uncompressed so that it can be mapped.

    Args:
        pieces: Its rows in order; batches between kept parts are parts of their own.
    """
    checksums: dict[str, Checksum] = {}
    waiting = iter(pieces)
    piece = next(waiting, None)
    while piece is not None or not checksums:
        part = _part_name(name, len(checksums))
        if isinstance(piece, KeptPart):
            checksums[part] = _link(folder / part, piece)
            piece = next(waiting, None)
            continue
        with (
            pa.OSFile(str(folder / part), "wb") as sink,
            pa.ipc.new_file(sink, schema) as writer,
        ):
            room = PART_ROWS
            while isinstance(piece, pa.RecordBatch) and (
                piece.num_rows <= room or room == PART_ROWS
            ):
                writer.write_batch(piece)
                room -= piece.num_rows
                piece = next(waiting, None)
        checksums[part] = read_checksum(folder / part)
    add_checksums(folder, checksums)


def _before(
    part: Sequence[pa.RecordBatch], following: Sequence[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield rows of versions before those of the next part."""
    if not following:
        yield from part
        return
    first = following[0]["version"][0].as_py()
    for batch in part:
        if batch["version"][-1].as_py() < first:
            yield batch
        elif count := pc.sum(pc.less(batch["version"], first)).as_py():
            yield batch.slice(0, count)


def _link(place: Path, part: KeptPart) -> Checksum:
    """Link a part, which is never changed; copy it if need be."""
    try:
        place.hardlink_to(part.path)
    except OSError:  # not every file system has links
        shutil.copyfile(part.path, place)
    return part.checksum


def _part_name(name: str, number: int) -> str:
    stem, _, ending = name.partition(".")
    return f"{stem}.{number}.{ending}" if number else name


def _listed(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []
