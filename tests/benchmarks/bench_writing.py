"""Writing beside `deltalake`: `python -m tests.benchmarks writing`.

Both do the same to a copy of the same table in turn (A B A B), each from a new table
object. A line is the median of ours over theirs, of the clock and of the processor,
beside what is needed. Ours makes the bytes of each file durable before a commit names
it, theirs does not: on a slow or busy disk the clock tells that. Then eight processes
of each append to one table, and their commits a second are compared. Words choose
among the lines: `python -m tests.benchmarks writing race`, or `writing delete`.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.compute as pc
from deltalake.transaction import AddAction, RemoveAction

from deltaweb.expressions.condition import SQLCondition
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from deltaweb.writer.excerpts import EXCERPT, Excerpts
from tests.benchmarks.measured import Spent
from tests.benchmarks.written_tables import (
    SMALL_SCHEMA,
    commit_files,
    log_rows,
    many_files,
    small_rows,
    wide_rows,
    write_empty,
    write_log,
    write_small_files,
)

ROUNDS = 5
APPENDS = 1_000
FILES = 10_000
WRITERS, APPENDS_EACH = 8, 25
RACE = "race"
DELETED = f"id IN ({', '.join(str(number * 9_000 + 3) for number in range(10))})"
Work = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Case:
    """What both do to a copy of a table, and the ratio that is needed."""

    name: str
    needed: float
    prepare: Work | None
    ours: Work
    theirs: Work
    rounds: int = ROUNDS


def main(*words: str) -> None:
    """Make the tables, let both write, print every ratio, or those of some words."""
    # Nothing is deleted before the end: when ext4 creates a file, it passes over each
    # inode that was freed in the last minutes, which takes longer than all else here.
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        for case in [] if words == (RACE,) else _cases():
            if words and not any(word in case.name for word in words):
                continue
            home = Path(folder, case.name.replace(" ", "-").replace(",", ""))
            home.mkdir()
            _compare(case, home)
        if not words or RACE in words:
            _race(Path(folder))


def _cases() -> list[Case]:
    log, rows = log_rows(), small_rows(0, 10)
    wide, spread = wide_rows(5_000_000), _spread(1_000_000, 1_000)
    files = many_files(FILES)
    actions = _actions(files)
    fields = deltalake.Schema.from_arrow(SMALL_SCHEMA)
    return [
        Case(
            "append to 100,000 files", 0.2, write_log,
            lambda f: DeltaTable(str(f)).append(log),
            lambda f: deltalake.write_deltalake(str(f), log, mode="append"),
        ),
        Case(
            "1,000 appends of 10 rows", 0.5, write_empty,
            lambda f: _append(DeltaTable(str(f)).append, rows),
            lambda f: _append_theirs(f, rows),
            rounds=3,
        ),
        Case(
            "10,000 adds in one commit", 0.5, write_empty,
            lambda f: commit_files(f, files),
            lambda f: deltalake.DeltaTable(f).create_write_transaction(
                actions, "append", fields
            ),
        ),
        Case(
            "write 5,000,000 rows", 1.0, None,
            lambda f: DeltaTable.create(str(f), wide.schema).append(wide),
            lambda f: deltalake.write_deltalake(str(f), wide),
            rounds=3,
        ),
        Case(
            "write 1,000 partitions", 1.0, None,
            lambda f: DeltaTable.create(
                str(f), spread.schema, partition_by=["p"]
            ).append(spread),
            lambda f: deltalake.write_deltalake(str(f), spread, partition_by=["p"]),
            rounds=3,
        ),
        Case(
            "delete in 10 of 10,000 files", 0.5, write_small_files,
            lambda f: DeltaTable(str(f)).delete(DELETED),
            lambda f: deltalake.DeltaTable(f).delete(DELETED),
            rounds=15,  # they are short: a busy neighbour doubles one
        ),
        Case(
            "optimize 10,000 files", 1.0, write_small_files,
            lambda f: DeltaTable(str(f)).optimize(),
            lambda f: deltalake.DeltaTable(f).optimize.compact(),
            rounds=3,
        ),
        Case(
            "a border beside our optimize", 1.2, _write_border,
            _rewrite_border, lambda f: DeltaTable(str(f)).optimize(),
            rounds=3,
        ),
    ]  # fmt: skip


def _write_border(folder: Path) -> None:
    """Four files that are small enough to be compacted into one."""
    rows = wide_rows(2_000_000)
    table = DeltaTable.create(str(folder), rows.schema)
    for first in range(0, rows.num_rows, 500_000):
        table.append(rows.slice(first, 500_000))


def _rewrite_border(folder: Path) -> None:
    """What a rule leaves of each of the files, which is nearly all."""
    snapshot = DeltaTable(str(folder)).snapshot()
    excerpts = Excerpts(
        place=TablePlace(str(folder)),
        schema=snapshot.schema,
        partition_columns=(),
        condition=SQLCondition("id % 50 <> 0", snapshot.schema),
        seen=snapshot.schema,
        target=TablePlace(str(folder / "_seen")),
    )
    files = snapshot.files
    names = pa.array([f"{number}.parquet" for number in range(files.num_rows)])
    for _ in excerpts.write(files.append_column(EXCERPT, names)):
        pass


def _spread(count: int, partitions: int) -> pa.Table:
    rows = small_rows(0, count)
    places = [number * 7 % partitions for number in range(count)]
    return rows.append_column("p", pa.array(places, pa.int64()))


def _actions(files: pa.Table) -> list[AddAction | RemoveAction]:
    return [
        AddAction(row["path"], row["size"], {}, 0, True, row["stats"])  # noqa: FBT003  # theirs
        for row in files.to_pylist()
    ]


def _append(append: Callable[[pa.Table], object], rows: pa.Table) -> None:
    for _ in range(APPENDS):
        append(rows)


def _append_theirs(folder: Path, rows: pa.Table) -> None:
    table = deltalake.DeltaTable(folder)
    _append(lambda some: deltalake.write_deltalake(table, some, mode="append"), rows)


# === Side by side ===


def _compare(case: Case, home: Path) -> None:
    origin = home / "origin"
    if case.prepare is not None:
        case.prepare(origin)
    spent: dict[Work, list[Spent]] = {case.theirs: [], case.ours: []}
    for round_ in range(case.rounds):
        counts = [
            _timed(work, origin, home / f"{number}-{round_}", spent)
            for number, work in enumerate(spent)
        ]
        assert counts[0] == counts[1], case.name
    wall, cpu = (
        statistics.median(getattr(one, name) for one in spent[case.ours])
        / statistics.median(getattr(one, name) for one in spent[case.theirs])
        for name in ("wall", "cpu")
    )
    ours = statistics.median(one.cpu for one in spent[case.ours])
    _print(case.name, cpu, case.needed, f"wall {wall:.3f}x  ours {ours:.2f} s")


def _timed(work: Work, origin: Path, copy: Path, spent: dict[Work, list[Spent]]):
    """Let one write to a copy; return how many rows there are then."""
    if origin.exists():
        shutil.copytree(origin, copy, copy_function=os.link)
    wall, cpu = time.perf_counter(), time.process_time()
    work(copy)
    wall_s = time.perf_counter() - wall
    spent[work].append(Spent(wall_s, time.process_time() - cpu))
    rows = DeltaTable(str(copy)).snapshot().statistics([])["num_records"]
    return int(pc.sum(rows).as_py())


def _print(what: str, ratio: float, needed: float, note: str) -> None:
    verdict = "ok  " if ratio <= needed else "MISS"
    load = os.getloadavg()[0]
    line = f"{verdict} {what:32} cpu {ratio:6.3f}x  needed {needed}x  {note}"
    print(f"{line}  load {load:.1f}", flush=True)


# === Races ===


def _race(folder: Path) -> None:
    seconds = {who: _raced(who, folder / who) for who in ("theirs", "ours")}
    total = WRITERS * APPENDS_EACH
    rates = {who: total / taken for who, taken in seconds.items()}
    note = f"{rates['ours']:.0f} beside {rates['theirs']:.0f} commits a second"
    ratio = rates["theirs"] / rates["ours"]
    verdict = "ok  " if ratio <= 1 else "MISS"
    print(f"{verdict} {f'{WRITERS} writers racing':32} {note}", flush=True)


def _raced(who: str, folder: Path) -> float:
    """Let processes append at the same time; return the seconds from start to end."""
    write_empty(folder)
    command = [sys.executable, "-m", __name__, who, str(folder)]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(WRITERS)
    ]
    pipes = [(one.stdin, one.stdout) for one in writers if one.stdin and one.stdout]
    for _, output in pipes:
        output.readline()
    started = time.perf_counter()
    for given, _ in pipes:
        given.close()
    assert [writer.wait() for writer in writers] == [0] * WRITERS
    taken = time.perf_counter() - started
    for _, output in pipes:
        output.close()
    assert DeltaTable(str(folder)).latest_version() == WRITERS * APPENDS_EACH
    return taken


def _write(who: str, folder: str) -> None:
    """Append, as soon as standard input ends."""
    rows = small_rows(0, 10)
    ours = DeltaTable(folder)
    theirs = deltalake.DeltaTable(folder)
    print("ready", flush=True)
    sys.stdin.read()
    for _ in range(APPENDS_EACH):
        if who == "ours":
            ours.append(rows)
        else:
            _append_until_done(theirs, rows)


def _append_until_done(table: deltalake.DeltaTable, rows: pa.Table) -> None:
    while True:
        try:
            deltalake.write_deltalake(table, rows, mode="append")
        except deltalake.exceptions.CommitFailedError:
            table.update_incremental()
        else:
            return


if __name__ == "__main__":
    _write(*sys.argv[1:])
