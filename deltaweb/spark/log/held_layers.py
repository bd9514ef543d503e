"""Layers of a tail that tasks have reconciled once, held until the state is let go.

They are files beside Spark's own temporary ones, so only where driver and tasks share
this machine's disk; elsewhere, and where a file is missing, tasks read the commits
again. Only the driver's first look at a tail knows not yet how the whole log
partitions: it guesses by the first commit, and what was held by a wrong guess is
dropped.
"""

import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from deltaweb.delta.log.blocks import SelectedBlock
from deltaweb.delta.log.commits.partition_keys import PartitionKeys
from deltaweb.delta.log.file_actions import TOMBSTONES_SCHEMA
from deltaweb.delta.log.replay import TailLayer
from deltaweb.spark.driver.cluster import is_local
from deltaweb.spark.log.reader import LIVE_FILES_SCHEMA, block_of_rows, file_rows


class HeldLayers(NamedTuple):
    """Where layers are held.

    Attributes:
        keys: The keys of partition values by which they were reconciled.
    """

    folder: str
    keys: PartitionKeys

    @classmethod
    def begin(cls, spark: SparkSession, keys: PartitionKeys) -> "HeldLayers | None":
        """Make the folder; None where tasks may run on other machines."""
        if not is_local(str(spark.sparkContext.master)):
            return None
        name = f"layers-{secrets.token_hex(8)}"
        folder = Path(SparkFiles.getRootDirectory()) / name
        try:
            folder.mkdir(parents=True)
        except OSError:
            return None
        return cls(str(folder), keys)

    def drop(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    # === In a task ===

    def hold(self, number: int, layer: TailLayer) -> None:
        """Write a layer; one that the disk has no room for is not held."""
        files = [] if layer.block is None else [file_rows(SelectedBlock(layer.block))]
        removed = layer.tombstones.combine_chunks().to_batches()
        with suppress(OSError):
            _write(self._removed(number), TOMBSTONES_SCHEMA, removed)
            _write(self._files(number), LIVE_FILES_SCHEMA, files)

    def files(self, number: int) -> list[SelectedBlock] | None:
        """Return the files of a layer; None where it is not held."""
        batches = _read(self._files(number))
        return None if batches is None else [block_of_rows(batch) for batch in batches]

    def tombstones(self, number: int) -> list[pa.RecordBatch] | None:
        """Return the tombstones of a layer; None where it is not held."""
        return _read(self._removed(number))

    def _files(self, number: int) -> Path:
        return Path(self.folder) / f"{number}.files.arrow"

    def _removed(self, number: int) -> Path:
        return Path(self.folder) / f"{number}.removed.arrow"


def _write(path: Path, schema: pa.Schema, batches: list[pa.RecordBatch]) -> None:
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with pa.OSFile(str(beside), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    beside.replace(path)


def _read(path: Path) -> list[pa.RecordBatch] | None:
    try:
        source = pa.memory_map(str(path))
    except OSError:
        return None
    reader = pa.ipc.open_file(source)
    return [reader.get_batch(number) for number in range(reader.num_record_batches)]
