"""The first rows of a file, read in a child process that may end.

A page that lies can make pyarrow take any memory, run for hours, or end its process.
So a child reads, with limits of time and memory; what happens to it is an error here.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from deltaweb.parquet.errors import (
    ParquetUnsupportedError,
    RowsMissingError,
    ValuesUnreadableError,
)
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.metadata import RowGroup
from deltaweb.parquet.rendering import JSON
from deltaweb.parquet.tail import RangeSource, Source, open_source
from deltaweb.parquet.values.extents import check_extents, choose_groups, chunk_start

TIMEOUT_S: Final = 20
"""Of processor time."""
PATIENCE: Final = 3
"""How many times as long it may take: a machine may have more to do."""
MEMORY_BYTES: Final = 1 << 30
"""What reading may take beyond what an idle process has."""
COPIED_BYTES: Final = 256 << 20
"""The most that is fetched of a file that is not on this machine."""
COPY_STEP_BYTES: Final = 4 << 20
_FAULTS: Final = {
    kind.code: kind for kind in (ParquetUnsupportedError, RowsMissingError)
}
"""What a child says of a file, by code, beside that its rows do not read."""


def preview(
    source: Source,
    limit: int = 20,
    *,
    row_group: int | None = None,
    timeout_s: float = TIMEOUT_S,
    memory_bytes: int = MEMORY_BYTES,
) -> list[dict[str, JSON]]:
    """Return the first rows of a file, or of one of its row groups, as JSON.

    A child process reads them, with limits of time and memory.

    Args:
        source: A local path, or an open file: of Arrow, of Python, or of fsspec.
        row_group: The position of a row group; None for the whole file.
        timeout_s: Seconds of processor time that reading may take.
        memory_bytes: What it may take beyond what an idle process has.

    Raises:
        ParquetError: If the file does not read, or takes more than it may.
        OSError: If the file does not open.
    """
    cpu_s = max(1, int(timeout_s))
    with _local_copy(source, limit, row_group) as path:
        request = {
            "path": os.fspath(path),
            "limit": limit,
            "row_group": row_group,
            "cpu_s": cpu_s,
            "memory_bytes": memory_bytes,
        }
        try:
            done = subprocess.run(
                [sys.executable, "-m", "deltaweb.parquet.values.child"],
                input=json.dumps(request).encode(),
                capture_output=True,
                timeout=PATIENCE * timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            reason = f"reading them took more than {PATIENCE * timeout_s:g} s"
            raise ValuesUnreadableError(reason=reason) from None
    if done.returncode:
        reason = _ending(done.returncode, memory_bytes, cpu_s)
        raise ValuesUnreadableError(reason=reason)
    answer: dict[str, Any] = json.loads(done.stdout)
    if "reason" in answer:
        kind = _FAULTS.get(answer.get("code", ""), ValuesUnreadableError)
        raise kind(reason=answer["reason"].rstrip("."))
    rows: list[dict[str, JSON]] = answer["rows"]
    return rows


def _ending(code: int, memory_bytes: int, cpu_s: int) -> str:
    if code == -signal.SIGXCPU:
        return f"reading them took more than {cpu_s:,} s of processor time"
    if code < 0:
        return f"the process that read them was ended (signal {-code})"
    return f"they took more than {memory_bytes >> 20:,} MiB, or the reader failed"


@contextmanager
def _local_copy(
    source: Source, limit: int, row_group: int | None
) -> Iterator[str | Path]:
    """Give a path: the file's own, or that of a copy of what will be read of it."""
    with open_source(source) as opened:
        # What is wrong with it is known before a child starts.
        footer = load_footer(opened)
        groups = choose_groups(footer, limit, row_group)
        size = opened.size()
        check_extents(groups, size)
        if isinstance(source, str | os.PathLike):
            yield Path(source)
            return
        extents = _extents(groups, size, footer.metadata.footer_length)
        with _copy_of(opened, extents) as path:
            yield path


@contextmanager
def _copy_of(source: RangeSource, extents: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Give the path of a file that holds the same at those places."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as copy:
        for start, length in extents:
            for at in range(start, start + length, COPY_STEP_BYTES):
                step = min(COPY_STEP_BYTES, start + length - at)
                copy.seek(at)
                copy.write(source.read_at(step, at))
        copy.flush()
        yield copy.name


def _extents(
    groups: Sequence[RowGroup], size: int, footer_length: int
) -> list[tuple[int, int]]:
    """Return where the pages and the footer are, as starts and lengths."""
    extents = [
        (chunk_start(chunk), chunk.values["total_compressed_size"])
        for group in groups
        for chunk in group.columns
    ]
    total = sum(length for _, length in extents)
    if total > COPIED_BYTES:
        reason = (
            f"their row groups have {total >> 20:,} MiB, "
            f"but the limit is {COPIED_BYTES >> 20:,} MiB"
        )
        raise ValuesUnreadableError(reason=reason)
    tail = footer_length + 8
    return [*extents, (size - tail, tail)]
