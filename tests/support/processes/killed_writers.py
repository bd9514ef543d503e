"""Real operations of real writers, in forks, that are killed, starved or race.

    python -m tests.support.processes.killed_writers [[COMMAND, ARGUMENT, ...], ...]

    kill FOLDER EVERY
    want STARVED_FOLDER DENIED_FOLDER
    count LOCATION PROCESSES UPDATES
    mix LOCATION PROCESSES STEPS RECORD

No Arrow is used in the process that forks: what it began would be gone in the fork.
"""

import json
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa

import deltaweb.expressions.condition
import deltaweb.writer.optimize
import deltaweb.writer.rewrite  # noqa: F401  # loaded before the forks
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.writing.errors import CommitConflictError
from deltaweb.table import DeltaTable
from tests.support.processes.racing_writers import forked

SCHEMA: Final = pa.schema([("id", pa.int64()), ("n", pa.int64())])
WRITES: Final = frozenset(
    ["open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.chmod"]
)
SMALL_BYTES: Final = 4_096
NOBODY: Final = 65_534
MOST_TRIES: Final = 1_000


def rows(*ids: int) -> pa.Table:
    """Rows that count from 0."""
    return pa.table({"id": ids, "n": [0] * len(ids)}, schema=SCHEMA)


def make(location: str) -> None:
    """Make a table of two files, at version 2."""
    table = DeltaTable.create(location, SCHEMA)
    table.append(rows(1, 2))
    table.append(rows(3, 4))


def change(location: str) -> None:
    """Make version 3: a file is written anew."""
    DeltaTable(location).update({"n": "n + 1"}, where="id < 3")


# === Deaths ===


def kill(folder: Path, every: int) -> bool:
    """Kill the change of copies of a table at each of its steps, or some of them."""
    origin = folder / "origin"
    forked(1, lambda _: make(str(origin)))
    for step in range(1, MOST_TRIES, every):
        copy = folder / f"{step:03}"
        shutil.copytree(origin, copy)
        if forked(1, lambda _: killed_at(step, copy)) == [0]:  # noqa: B023  # called at once
            return True
    return False


def killed_at(step: int, copy: Path) -> None:
    """Change a table until the step of that number is about to be taken."""
    steps = 0

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        if event in WRITES and str(copy) in str(arguments[0]):
            if event == "open" and not is_writing(arguments):
                return
            steps += 1
            if steps == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    change(str(copy))


def is_writing(arguments: tuple[object, ...]) -> bool:
    """Tell whether an `open` is to write."""
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


# === Want ===


def starve(folder: Path) -> bool:
    """Write where no file takes more than a few bytes; tell whether it was refused."""
    forked(1, lambda _: make(str(folder)))

    def write(_: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_BYTES, SMALL_BYTES))
        refused(lambda: DeltaTable(str(folder)).append(rows(*range(100_000))))

    return forked(1, write) == [0]


def deny(folder: Path) -> bool:
    """Write where one may no more; tell whether it was refused."""
    forked(1, lambda _: make(str(folder)))

    def write(_: int) -> None:
        # It loads what a change needs: nobody may be kept from the modules, too.
        make(str(folder.with_name("before")))
        change(str(folder.with_name("before")))
        if os.geteuid() == 0:
            os.seteuid(NOBODY)
        else:
            folder.chmod(0o500)
            (folder / "_delta_log").chmod(0o500)
        refused(lambda: change(str(folder)))

    done = forked(1, write) == [0]
    folder.chmod(0o755)
    (folder / "_delta_log").chmod(0o755)
    return done


def refused(write: Callable[[], object]) -> None:
    """Fail unless a write ends as an error of ours."""
    try:
        write()
    except DeltaError:
        return
    message = "it was written"
    raise AssertionError(message)


# === Races ===


def count(location: str, processes: int, updates: int) -> bool:
    """Let writers count up the same row; each tries until it was."""

    def run(_: int) -> None:
        table = DeltaTable(location)
        for _ in range(updates):
            until_done(lambda: table.update({"n": "n + 1"}))

    return not any(forked(processes, run))


def until_done(write: Callable[[], object]) -> None:
    """Try again whenever others were faster."""
    for _ in range(MOST_TRIES):
        try:
            write()
        except CommitConflictError:
            continue
        return
    message = "others were always faster"
    raise AssertionError(message)


def mix(location: str, processes: int, steps: int, record: Path) -> bool:
    """Let writers do this and that; each records what became a version."""

    def run(writer: int) -> None:
        drawn = random.Random(writer)
        table = DeltaTable(location)
        with (record / f"{writer}.jsonl").open("w") as lines:
            for step in range(steps):
                kind = drawn.choice(["append", "append", "delete", "update", "pack"])
                low = drawn.randrange(20)
                high = low + drawn.randrange(6)
                first = drawn.choice([low, 100 * (writer + 1) + step])
                try:
                    version = apply(table, kind, low, high, first)
                except CommitConflictError:
                    continue
                if version is not None:
                    lines.write(json.dumps([version, kind, low, high, first]) + "\n")

    return not any(forked(processes, run))


def apply(table: DeltaTable, kind: str, low: int, high: int, first: int) -> int | None:
    """Do it; return the version that it made."""
    where = f"id >= {low} AND id <= {high}"
    match kind:
        case "append":
            result = table.append(rows(first, first + 1))
        case "delete":
            result = table.delete(where)
        case "update":
            result = table.update({"n": "n + 1"}, where=where)
        case _:
            result = table.optimize()
    return result.version if result.attempts else None


def do(*command: str) -> bool:
    """Do what a command says."""
    match command:
        case ["kill", folder, every]:
            return kill(Path(folder), int(every))
        case ["want", starved, denied]:
            return starve(Path(starved)) and deny(Path(denied))
        case ["count", location, processes, updates]:
            return count(location, int(processes), int(updates))
        case ["mix", location, processes, steps, record]:
            return mix(location, int(processes), int(steps), Path(record))
        case _:
            return False


if __name__ == "__main__":
    for one in json.loads(sys.argv[1]):
        if not do(*one):
            sys.exit(f"{one[0]} has failed")
