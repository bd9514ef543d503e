"""Stores that fail: killed writers, a full disk, and commits that vanish."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deltaweb.delta.log_store import FileStatus, TableStore
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.local_pending import LocalPendingFile

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

    def list_from(self, name: str) -> list[FileStatus]:
        for gone in self.vanishing:
            (Path(self.root) / "_delta_log" / gone).unlink(missing_ok=True)
        return super().list_from(name)


@dataclass(frozen=True, slots=True)
class VanishingSource:
    """Opens the store that loses commits."""

    location: str
    vanishing: tuple[str, ...]

    def open(self) -> TableStore:
        store = VanishingStore(self.location)
        store.vanishing = self.vanishing
        return store
