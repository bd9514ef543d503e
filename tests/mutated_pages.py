"""Parquet files with changed pages, and what reading their rows must end as.

The footer stays what it is: bytes of page headers and of the values behind them are
flipped, lost, added, repeated, or made huge. Each file is read in a process of its own,
with the limits of a preview, forked from one that has loaded all that reading needs: a
page that ends its reader ends nothing else. A seed gives the same inputs in the same
order.

    python -m tests.mutated_pages 7 300     reads 300 files, and says what they came to
"""

import io
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.values.child import limit_process
from deltaweb.parquet.values.extents import chunk_start
from deltaweb.parquet.values.reading import read_rows

READ, REFUSED, FAULT = 0, 3, 4
HEADER_BYTES: Final = 48
"""Where a page begins stands its header: sizes, counts, encodings, statistics."""
HUGE: Final = (b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\xfe\xff\x03", b"\0")
MEMORY_BYTES: Final = 512 << 20
CPU_S: Final = 5
ROWS: Final = 5
WRITTEN: Final = (
    {"data_page_version": "1.0", "compression": "none"},
    {"data_page_version": "2.0", "compression": "snappy"},
    {"data_page_version": "1.0", "compression": "zstd", "use_dictionary": False},
    {"data_page_version": "2.0", "compression": "none", "use_dictionary": False},
    {
        "data_page_version": "2.0",
        "compression": "gzip",
        "use_dictionary": False,
        "column_encoding": {
            "n": "DELTA_BINARY_PACKED",
            "name": "DELTA_BYTE_ARRAY",
            "x": "BYTE_STREAM_SPLIT",
        },
    },
)


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What became of many files.

    Attributes:
        read: How many gave rows.
        refused: How many ended as a clean error.
        ended: How many ended their reader, which a preview tells as an error.
        faults: What else they ended as.
    """

    read: int
    refused: int
    ended: int
    faults: list[str]


def judge_pages(seed: int, count: int) -> PageVerdict:
    """Read so many changed files, in a process that reads each in one of its own."""
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, str(seed), str(count)],
        capture_output=True,
        check=True,
        text=True,
    )
    return PageVerdict(**json.loads(done.stdout))


def seed_files() -> list[bytes]:
    """Return the files that are changed: of many types, as several writers write."""
    table = pa.table(
        {
            "n": pa.array([1, None, 3, 3, 7], pa.int64()),
            "name": ["a", "b" * 40, None, "a", "a"],
            "x": [1.5, float("nan"), -0.0, None, 2.5],
            "price": pa.array([Decimal("1.50"), None, Decimal("-2.25"), None, None]),
            "is": [True, None, False, True, True],
            "tags": pa.array([["a"], [], None, ["b", None], []], pa.list_(pa.string())),
            "by": pa.array(
                [[("k", 1.5)], None, [], [], []], pa.map_(pa.string(), pa.float64())
            ),
            "s": pa.array([{"a": 1}, None, {"a": None}, None, None]),
        }
    )
    files = []
    for options in WRITTEN:
        sink = io.BytesIO()
        pq.write_table(table, sink, row_group_size=3, **options)
        files.append(sink.getvalue())
    return files


def mutated_pages(files: Sequence[bytes], seed: int, count: int) -> Iterator[bytes]:
    """Yield so many files with changed pages, most often in their headers."""
    draw = random.Random(seed)
    pages = [_pages(file) for file in files]
    for _ in range(count):
        chosen = draw.randrange(len(files))
        changed = bytearray(files[chosen])
        for _ in range(draw.choice((1, 1, 1, 2))):
            begin, end = draw.choice(pages[chosen])
            if draw.random() < 0.4:
                end = min(end, begin + HEADER_BYTES)
            _change(changed, draw.randrange(begin, end), end, draw)
        yield bytes(changed)


def _pages(file: bytes) -> list[tuple[int, int]]:
    """Return where pages begin, each with the end of its column chunk."""
    found = []
    for group in load_footer(pa.BufferReader(file)).metadata.row_groups:
        for chunk in group.columns:
            begin = chunk_start(chunk)
            end = begin + chunk.values["total_compressed_size"]
            data = chunk.values["data_page_offset"]
            found += [(begin, end), (data, end)]
    return found


def _change(changed: bytearray, at: int, end: int, draw: random.Random) -> None:
    """Change bytes from a place on; the file stays as long, so that all is in it."""
    length = draw.randint(1, min(8, end - at))
    match draw.randrange(5):
        case 0:
            changed[at] ^= 1 << draw.randrange(8)
        case 1:
            changed[at : at + length] = draw.randbytes(length)
        case 2:
            huge = draw.choice(HUGE)[: end - at]
            changed[at : at + len(huge)] = huge
        case 3:
            moved = changed[at + length : end] + changed[at : at + length]
            changed[at:end] = moved
        case _:
            moved = changed[at : at + 1] * length + changed[at : end - length]
            changed[at:end] = moved


def _read_all(seed: int, count: int) -> PageVerdict:
    came_to: Counter[int] = Counter()
    faults = []
    for file in mutated_pages(seed_files(), seed, count):
        code = _read_apart(file)
        came_to[code] += 1
        if code == FAULT:
            faults.append(file.hex() if len(file) < 1 << 12 else f"{len(file)} bytes")
    known = came_to[READ], came_to[REFUSED]
    ended = count - sum(known) - came_to[FAULT]
    return PageVerdict(*known, ended, faults)


def _read_apart(file: bytes) -> int:
    """Return what a process of its own came to; below 0 for a signal."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    code = FAULT
    try:
        # What pyarrow and the allocator say before they end is no finding.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        limit_process(MEMORY_BYTES, CPU_S)
        json.dumps(read_rows(pa.BufferReader(file), ROWS))
        code = READ
    except (ParquetError, MemoryError, RecursionError):
        code = REFUSED
    finally:
        os._exit(code)


if __name__ == "__main__":
    pa.set_memory_pool(pa.system_memory_pool())
    verdict = _read_all(int(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write(json.dumps(asdict(verdict)))
