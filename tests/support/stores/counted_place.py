"""A place of data files whose tasks take down what they open, wherever they run."""

import secrets
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from deltaweb.delta.log.store import TableStore
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.place import TablePlace


class MarkingStore(LocalTableStore):
    """A local store that leaves a file for every data file that it opens."""

    def __init__(self, location: str, marks: Path) -> None:
        super().__init__(location)
        self._marks = marks

    def open_data_file(self, path: str) -> pa.NativeFile:
        mark = self._marks / secrets.token_hex(8)
        mark.write_text(path)
        return super().open_data_file(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedPlace(TablePlace):
    """Where tasks open a `MarkingStore`."""

    marks: Path

    def open(self) -> TableStore:
        return MarkingStore(self.location, self.marks)


def opened(marks: Path) -> list[str]:
    """Return the paths that were opened, sorted; one as often as it was."""
    return sorted(mark.read_text() for mark in marks.iterdir())
