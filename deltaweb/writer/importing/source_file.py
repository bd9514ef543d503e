"""A file of an import, and how its bytes are reached."""

import io
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from deltaweb.delta.errors import DataFileMissingError
from deltaweb.writer.importing.options import ImportFileError, TextForm

BUFFER_BYTES: Final = 1 << 20
DEFAULT_FORM: Final = TextForm()

OpenFile = Callable[[str], pa.NativeFile]
"""Opens the file at a path; where none is it raises `FileNotFoundError`, or
`DataFileMissingError`, and else what its store does."""


def open_here(path: str) -> pa.NativeFile:
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116  # a path is text here
        raise FileNotFoundError(path)
    return pa.OSFile(path)


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """One file."""

    path: str
    shown: str
    open_file: OpenFile

    def open(self) -> pa.NativeFile:
        """Open it; whoever does closes it."""
        try:
            return self.open_file(self.path)
        except (FileNotFoundError, DataFileMissingError):
            reason = "there is no such file"
            raise ImportFileError(path=self.shown, reason=reason) from None
        except OSError as error:
            reason = error.strerror or "it cannot be opened"
            raise ImportFileError(path=self.shown, reason=reason) from None

    @contextmanager
    def buffered(self) -> Iterator[io.BufferedReader]:
        """Open it for small reads."""
        try:
            with self.open() as file, io.BufferedReader(file, BUFFER_BYTES) as buffered:
                yield buffered
        except OSError as error:
            reason = error.strerror or "it cannot be read"
            raise ImportFileError(path=self.shown, reason=reason) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFiles:
    """The files of an import.

    Attributes:
        names: What people call them, one by one.
        file_format: One of `FORMATS`; empty to go by the names.
        open_file: Opens a path; else they are paths of this machine.
    """

    paths: Sequence[str]
    names: Sequence[str]
    file_format: str = ""
    form: TextForm = DEFAULT_FORM
    open_file: OpenFile = open_here

    def each(self) -> Iterator[SourceFile]:
        for path, shown in zip(self.paths, self.names, strict=True):
            yield SourceFile(path, shown, self.open_file)
