"""Parquet files with changed pages, and what reading their rows must end as.

The footer stays what it is: bytes of page headers and of the values behind them are
flipped, lost, added, repeated, or made huge. A seed gives the same inputs in the same
order. A child process reads them in turn, by the code and with the limits of a preview,
which has a process for each file: so a file that ends the child is read once more by a
new one, and what becomes of that is what counts. What a file does to those after it is
not seen by a preview, and is no finding.

    python -m tests.support.files.mutated_pages 7 300

reads 300 files, and says what they came to.
"""

import io
import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.values.child import limit_process
from deltaweb.parquet.values.extents import chunk_start
from deltaweb.parquet.values.reading import read_rows

READ, REFUSED, FAULT = b"r", b"x", b"f"
HEADER_BYTES: Final = 48
"""Where a page begins stands its header: sizes, counts, encodings, statistics."""
HUGE: Final = (b"\xff\xff\xff\xff\x0f", b"\xff" * 9 + b"\x01", b"\xfe\xff\x03", b"\0")
MEMORY_BYTES: Final = 512 << 20
CPU_S: Final = 5
"""For each file."""
LIFE_S: Final = 100_000
WAIT_S: Final = 120.0
"""For a file; a machine may be busy, so the limit is that of processor time."""
ROWS: Final = 5
_ENCODINGS: Final = {
    "n": "DELTA_BINARY_PACKED",
    "name": "DELTA_BYTE_ARRAY",
    "x": "BYTE_STREAM_SPLIT",
}
WRITTEN: Final[tuple[tuple[dict[str, Any], dict[str, str]], ...]] = (
    ({"data_page_version": "1.0", "compression": "none"}, {}),
    ({"data_page_version": "2.0", "compression": "snappy"}, {}),
    ({"data_page_version": "1.0", "compression": "zstd", "use_dictionary": False}, {}),
    ({"data_page_version": "2.0", "compression": "none", "use_dictionary": False}, {}),
    (
        {"data_page_version": "2.0", "compression": "gzip", "use_dictionary": False},
        _ENCODINGS,
    ),
)
"""How files are written, with the encodings of some columns."""


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What became of many files.

    Attributes:
        read: How many gave rows.
        refused: How many ended as a clean error.
        ended: By how a reader ended, how many ended theirs: an error of a preview.
        after_others: How many ended a reader that had read others, and no new one.
        faults: What else they ended as.
    """

    read: int
    refused: int
    ended: dict[str, int]
    after_others: int
    faults: list[str]


def judge_pages(seed: int, count: int) -> PageVerdict:
    """Read so many changed files, from a process that no other library has changed."""
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, str(seed), str(count)],
        capture_output=True,
        check=True,
        text=True,
    )
    return PageVerdict(**json.loads(done.stdout))


def seed_files() -> list[bytes]:
    """Return the files that are changed: of many types, as several writers write.

    Each has one column: one that does not read hides no other.
    """
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
    return [
        _file(table.select([name]), {**options, "column_encoding": encodings.get(name)})
        for options, encodings in WRITTEN
        for name in table.column_names
    ]


def _file(table: pa.Table, options: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=3, **options)
    return sink.getvalue()


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


class Reader:
    """A child process that reads files, one after the other, until `end`."""

    def __init__(self) -> None:
        self._is_hung = False
        files, self._to_child = os.pipe()
        self._verdicts, verdicts = os.pipe()
        self.child = os.fork()
        if not self.child:
            os.close(self._to_child)
            os.close(self._verdicts)
            _serve(files, verdicts)
        os.close(files)
        os.close(verdicts)

    def read(self, file: bytes) -> bytes:
        """Return what a file came to; nothing where it ended the process."""
        try:
            with open(self._to_child, "wb", closefd=False) as pipe:
                pipe.write(len(file).to_bytes(4, "little") + file)
        except BrokenPipeError:
            return b""
        waiting = select.poll()  # `select` takes files below 1,024
        waiting.register(self._verdicts, select.POLLIN)
        if waiting.poll(1_000 * WAIT_S):
            return os.read(self._verdicts, 1)
        self._is_hung = True
        os.kill(self.child, signal.SIGKILL)
        return b""

    def end(self) -> str:
        """End the process if it has not ended, and return how it has."""
        os.close(self._to_child)
        os.close(self._verdicts)
        _, status = os.waitpid(self.child, 0)
        if self._is_hung:
            return "hung"
        code = os.waitstatus_to_exitcode(status)
        return signal.Signals(-code).name if code < 0 else f"exit {code}"


def _serve(files: int, verdicts: int) -> None:
    """Read files from a pipe until it ends; then end."""
    # What pyarrow and the allocator say before they end is no finding.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    try:
        limit_process(MEMORY_BYTES, LIFE_S)
        with open(files, "rb") as pipe:
            while head := pipe.read(4):
                file = pipe.read(int.from_bytes(head, "little"))
                until_s = int(time.process_time()) + CPU_S + 1
                resource.setrlimit(resource.RLIMIT_CPU, (until_s, LIFE_S + 1))
                os.write(verdicts, _verdict(file))
    finally:
        os._exit(0)


def _verdict(file: bytes) -> bytes:
    try:
        json.dumps(read_rows(pa.BufferReader(file), ROWS))
    except (ParquetError, MemoryError, RecursionError):
        return REFUSED
    except BaseException:  # noqa: BLE001 (whatever it is, it is the finding)
        return FAULT
    return READ


def _read_all(seed: int, count: int) -> PageVerdict:
    came_to: Counter[bytes] = Counter()
    ended: Counter[str] = Counter()
    faults = []
    reader = Reader()
    for file in mutated_pages(seed_files(), seed, count):
        verdict = reader.read(file)
        if not verdict:
            reader.end()
            reader = Reader()
            verdict = reader.read(file)
            came_to[b"late"] += bool(verdict)
        if not verdict:
            ended[reader.end()] += 1
            reader = Reader()
        came_to[verdict] += 1
        if verdict == FAULT:
            faults.append(file.hex() if len(file) < 1 << 12 else f"{len(file)} bytes")
    reader.end()
    return PageVerdict(
        read=came_to[READ],
        refused=came_to[REFUSED],
        ended=dict(ended),
        after_others=came_to[b"late"],
        faults=faults,
    )


if __name__ == "__main__":
    pa.set_memory_pool(pa.system_memory_pool())
    verdict = _read_all(int(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write(json.dumps(asdict(verdict)))
