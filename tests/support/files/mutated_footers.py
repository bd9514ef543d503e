"""Parquet files with changed footers, and what reading them must end as.

Each input is one of a few files, the recorded ones among them, with bytes of its footer
flipped, lost, added, repeated, or taken from another footer. A seed gives the same
inputs in the same order.
"""

import io
import json
import random
import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.parquet import describe
from deltaweb.parquet.conversion import spark
from deltaweb.parquet.conversion.arrow import arrow_schema
from deltaweb.parquet.counts import parse_row_group_counts
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.loading import load_footer
from deltaweb.parquet.tail import read_footer
from tests.support.files.merged_schemas import merge_schemas
from tests.support.golden.recorded import parquet_files
from tests.support.stores.counted_reads import CountedSource

MAX_FOOTER_BYTES = 6_000  # of the files that are changed: small ones, for many rounds
# Where counts and lengths are read, these ask for more than there is.
HUGE = (
    b"\xff\xff\xff\xff\x0f",
    b"\xff" * 9 + b"\x01",
    b"\xff\xff\x03",
    b"\x00",
    b"\x7f",
)


@dataclass
class Verdict:
    """What became of many inputs.

    Attributes:
        read: How many were read.
        refused: How many ended as a clean error.
        slowest_s: The processor time of the slowest.
        faults: Those that ended otherwise, by what they ended as.
    """

    read: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    faults: list[tuple[str, bytes]] = field(default_factory=list)


def seed_files() -> list[bytes]:
    """Return the files that are changed."""
    found = [_file_of_many_types()]
    for path in (*parquet_files().values(), *parquet_files("bad").values()):
        data = path.read_bytes()
        length = int.from_bytes(data[-8:-4], "little")
        if data[-4:] == b"PAR1" and 0 < length <= min(MAX_FOOTER_BYTES, len(data) - 8):
            found.append(data)
    return found


def mutated_files(files: Sequence[bytes], seed: int, count: int) -> Iterator[bytes]:
    """Yield so many files whose footers are changed."""
    draw = random.Random(seed)
    footers = [_footer(file) for file in files]
    for _ in range(count):
        chosen = draw.randrange(len(files))
        footer = _mutated(footers[chosen], draw.choice(footers), draw)
        pages = files[chosen][: -8 - len(footers[chosen])]
        yield pages + footer + struct.pack("<I", len(footer)) + b"PAR1"


def judge(files: Iterator[bytes]) -> Verdict:
    """Read everything that a footer says of each file; nothing but rows."""
    verdict = Verdict()
    for file in files:
        began_s = time.process_time()
        try:
            _read(file)
            verdict.read += 1
        except ParquetError:
            verdict.refused += 1
        except Exception as error:  # noqa: BLE001 (whatever it is, it is the finding)
            verdict.faults.append((repr(error), file))
        spent_s = time.process_time() - began_s
        verdict.slowest_s = max(verdict.slowest_s, spent_s)
    return verdict


def _read(file: bytes) -> None:
    source = CountedSource(file)
    for group in parse_row_group_counts(read_footer(source)):
        group.null_leaves()
    footer = load_footer(source)
    spark.convert(footer.root)
    arrow_schema(footer.root)
    merge_schemas([("a", footer), ("b", footer)])
    json.dumps(describe(source))


def _footer(file: bytes) -> bytes:
    return file[-8 - int.from_bytes(file[-8:-4], "little") : -8]


def _mutated(footer: bytes, other: bytes, draw: random.Random) -> bytes:
    changed = bytearray(footer)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        if not changed:
            break
        at = draw.randrange(len(changed))
        end = at + draw.randint(1, 12)
        match draw.randrange(8):
            case 0:
                changed[at] ^= 1 << draw.randrange(8)
            case 1:
                changed[at] = draw.randrange(256)
            case 2:
                del changed[at:end]
            case 3:
                changed[at:at] = draw.randbytes(end - at)
            case 4:
                changed[at : at + 1] = draw.choice(HUGE)
            case 5:
                changed[at:at] = changed[at:end] * draw.randint(1, 50)
            case 6:
                start = draw.randrange(len(other))
                changed[at:end] = other[start : start + draw.randint(1, 60)]
            case _:
                del changed[at:]
    return bytes(changed)


def _file_of_many_types() -> bytes:
    table = pa.table(
        {
            "n": pa.array([1, None, 3], pa.uint16()),
            "price": pa.array([Decimal("1.50"), None, Decimal("-2.25")]),
            "at": pa.array([1, 2, None], pa.timestamp("ns", "UTC")),
            "day": pa.array([1, 2, 3], pa.date32()),
            "name": ["a", "b" * 80, None],
            "x": [1.5, float("nan"), -0.0],
            "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
            "by": pa.array(
                [[("k", 1.5)], None, []], pa.map_(pa.string(), pa.float64())
            ),
            "s": pa.array([{"a": 1}, None, {"a": None}], pa.struct({"a": pa.int8()})),
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=2, write_page_index=True)
    return sink.getvalue()
