"""Writers in processes of their own, which race, or die on the way.

    M=tests.support.processes.racing_writers
    python -m $M race LOCATION OPTIONS PROCESSES APPENDS
    python -m $M die FOLDER

The modules are loaded once: the writers are forks of the process.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import deltaweb.storage.remote  # noqa: F401  # loaded before the forks
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.after_commit import commit_and_checkpoint
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.transaction import Transaction
from deltaweb.storage.place import open_store
from deltaweb.writer.append import KnownDefinition
from tests.support.tables.written_tables import added, on_newest

STEPS = ("before data", "after data", "in the commit", "after the commit")


class Writer:
    """Appends files, whose contents are their names, as `DeltaTable.append` does."""

    def __init__(self, location: str, options: dict[str, object]) -> None:
        self.store = open_store(location, options)
        self.known = KnownDefinition(self.store)

    def append(self, name: str) -> None:
        """Append a file."""
        write(self.store, name)
        transaction = Transaction(
            base=self.known.newest(),
            operation="WRITE",
            added=added((name, name[0], 1, 2)),
        )
        result = commit_and_checkpoint(self.store, transaction)
        self.known.follow(transaction, result)


def write(store: TableStore, name: str) -> None:
    store.put_data_file(name, name.encode())


def race(location: str, options: dict[str, object], processes: int, count: int) -> bool:
    """Let writers append at the same time; tell whether none failed."""

    def run(number: int) -> None:
        writer = Writer(location, options)
        for turn in range(count):
            writer.append(f"{number}-{turn}-{uuid4()}")

    return all(status == 0 for status in forked(processes, run))


def forked(processes: int, run: Callable[[int], None]) -> list[int]:
    """Run a function in forks and return how they ended."""
    pids = []
    for number in range(processes):
        pid = os.fork()
        if not pid:
            status = 1
            try:
                run(number)
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    return [os.waitpid(pid, 0)[1] for pid in pids]


def die(location: str, step: str) -> bool:
    """Append in a fork that is killed at a step; tell whether it was."""

    def killed(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def run(_: int) -> None:
        store = open_store(location)
        transaction = on_newest(store, added=added(("new", "a", 1, 2)))
        if step == "before data":
            killed()
        write(store, "new")
        if step == "after data":
            killed()
        if step == "in the commit":
            vars(os)["link"] = killed
        commit(store, transaction)
        killed()

    return forked(1, run) == [signal.SIGKILL]


def main() -> int:
    """Do what the command line says."""
    match sys.argv[1:]:
        case ["race", location, options, processes, count]:
            is_done = race(location, json.loads(options), int(processes), int(count))
        case ["die", folder]:
            is_done = all(die(str(Path(folder) / step), step) for step in STEPS)
        case _:
            is_done = False
    return 0 if is_done else 1


if __name__ == "__main__":
    sys.exit(main())
