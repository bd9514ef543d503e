"""Copies of logs that get a checkpoint, and whether it holds what it should."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import deltalake

from deltaweb.table import DeltaTable


@contextmanager
def copied_log(folder: Path) -> Iterator[Path]:
    """Make a copy of a log of hard links, but for the hint."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        copy = Path(temporary) / "table"
        shutil.copytree(folder, copy, copy_function=os.link)
        _unlink_from(copy / "_delta_log" / "_last_checkpoint")
        yield copy


def _unlink_from(path: Path) -> None:
    """Make a hard link a file of its own, which can be written."""
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)


def check_equal(copy: Path, folder: Path) -> None:
    """Stop when the copy, read from its new checkpoint, holds other files."""
    found, wanted = DeltaTable(str(copy)).snapshot(), DeltaTable(str(folder)).snapshot()
    peer = deltalake.DeltaTable(str(copy), without_files=True)
    checkpoint = found.state.checkpoint
    if (
        checkpoint is None
        or checkpoint.version != wanted.version
        or peer.version() != wanted.version
        or found.num_files != wanted.num_files
        or found.size_bytes != wanted.size_bytes
    ):
        message = f"the checkpoint of {folder} holds something else"
        raise SystemExit(message)
