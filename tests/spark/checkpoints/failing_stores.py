"""Stores that fail in tasks: killed writers, a full disk, lost commits, a wait."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deltaweb.delta.log.store import TableStore
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.local_pending import LocalPendingFile

CANCEL = ".cancel"

# === Writers that are killed ===


class DyingStore(LocalTableStore):
    """A store whose writers are killed, the first few of them, with rows written."""

    def __init__(self, root: str, marks: Path, times: int) -> None:
        super().__init__(root)
        self.marks = marks
        self.times = times

    def begin_file(self, name: str) -> LocalPendingFile:
        file = super().begin_file(name)
        if _takes_mark(self.marks, self.times):
            file.sink.write(b"PAR1 and some rows")
            file.sink.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return file


def _takes_mark(marks: Path, times: int) -> bool:
    """Take one of so many marks, each of which one process gets."""
    for number in range(times):
        with suppress(FileExistsError):
            (marks / str(number)).touch(exist_ok=False)
            return True
    return False


@dataclass(frozen=True, slots=True)
class DyingSource:
    """Opens the store whose writers are killed in tasks, and a plain one elsewhere."""

    location: str
    marks: Path
    times: int

    def open(self) -> TableStore:
        from pyspark import TaskContext

        if TaskContext.get() is None:
            return LocalTableStore(self.location)
        return DyingStore(self.location, self.marks, self.times)


# === A full disk ===


class FullStore(LocalTableStore):
    """A store whose disk takes no file of more than a few bytes."""

    def begin_file(self, name: str) -> LocalPendingFile:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))
        return super().begin_file(name)


@dataclass(frozen=True, slots=True)
class FullSource:
    """Opens the store whose disk is full in tasks."""

    location: str

    def open(self) -> TableStore:
        from pyspark import TaskContext

        if TaskContext.get() is None:
            return LocalTableStore(self.location)
        return FullStore(self.location)


# === Commits that vanish ===


class VanishingStore(LocalTableStore):
    """A store whose log loses commits once their names were listed."""

    vanishing: tuple[str, ...] = ()

    def list_names_from(self, name: str) -> list[str]:
        names = super().list_names_from(name)
        for gone in self.vanishing:
            (Path(self.root) / "_delta_log" / gone).unlink(missing_ok=True)
        return names


@dataclass(frozen=True, slots=True)
class VanishingSource:
    """Opens the store that loses commits in tasks."""

    location: str
    vanishing: tuple[str, ...]

    def open(self) -> TableStore:
        from pyspark import TaskContext

        if TaskContext.get() is None:
            return LocalTableStore(self.location)
        store = VanishingStore(self.location)
        store.vanishing = self.vanishing
        return store


# === Writers that wait ===


class WaitingStore(LocalTableStore):
    """A store whose writers begin once they are asked to stop."""

    scratch: Path

    def begin_file(self, name: str) -> LocalPendingFile:
        while not list(self.scratch.glob(f"*/*{CANCEL}")):
            time.sleep(0.02)
        return super().begin_file(name)


@dataclass(frozen=True, slots=True)
class WaitingSource:
    """Opens the store whose writers wait in tasks."""

    location: str
    scratch: Path

    def open(self) -> TableStore:
        from pyspark import TaskContext

        if TaskContext.get() is None:
            return LocalTableStore(self.location)
        store = WaitingStore(self.location)
        store.scratch = self.scratch
        return store
