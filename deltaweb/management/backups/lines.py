"""The document in a backup: JSON lines, compressed by gzip.

    {"made_by": "0.9.0", "made_at": ..., "engine": ..., "migrations": [...], ...}
    {"model": "accounts.user", "fields": ["id", "username", ...]}
    [1, "ada", ...]
    {"end": {"accounts.user": 1}, "sha256": "..."}

The digest is that of all lines before the last. It has no paths, so nothing can
be written outside the database.
"""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import IO, Any, Final, TypeAlias

from deltaweb.management.backups.errors import BackupDamagedError
from deltaweb.management.backups.sealed import Passphrase, SealedReader, SealedWriter

MAX_LINE_BYTES: Final = 256 << 20
MAX_RATIO: Final = 200  # of gzip, beyond what rows of a catalog reach
FREE_BYTES: Final = 64 << 20  # of a small file, for which no ratio is asked
Row: TypeAlias = list[Any]  # JSON values, in the order of the fields


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupHead:
    """The first line of a backup.

    Attributes:
        made_at: ISO 8601, in UTC.
        engine: The vendor of the database, such as `postgresql`.
        migrations: App and name of each that was applied.
        secret_keys: The secret key and its fallbacks, which open stored credentials.
        had_samples: Whether the sample tables had been registered once.
    """

    made_by: str
    made_at: str
    engine: str
    migrations: list[list[str]]
    secret_keys: list[str] = field(repr=False)
    had_samples: bool = False


class LineWriter:
    """Writes the lines of a backup; `close` ends it."""

    def __init__(self, file: IO[bytes], passphrase: str | None) -> None:
        self._sealed = SealedWriter(file, passphrase)
        self._packed = gzip.GzipFile(fileobj=self._sealed, mode="wb", compresslevel=6)
        self._digest = hashlib.sha256()
        self._counts: dict[str, int] = {}
        self._model = ""

    def begin(self, model: str, fields: list[str]) -> None:
        self._model = model
        self._counts[model] = 0
        self.put({"model": model, "fields": fields})

    def row(self, values: Row) -> None:
        self._counts[self._model] += 1
        self.put(values)

    def put(self, value: object) -> None:
        line = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        self._digest.update(line)
        self._packed.write(line)

    def close(self) -> dict[str, int]:
        """Write the end and return the number of rows of each model."""
        self.put({"end": self._counts, "sha256": self._digest.hexdigest()})
        self._packed.close()
        self._sealed.close()
        return self._counts


class LineReader:
    """Reads the lines of a backup and refuses what is not one.

    Args:
        file: At its beginning.
        size_bytes: Of the file.
    """

    def __init__(
        self, file: IO[bytes], name: str, size_bytes: int, passphrase: Passphrase
    ) -> None:
        self._name = name
        sealed = io.BufferedReader(SealedReader(file, name, passphrase))
        self._packed = gzip.GzipFile(fileobj=sealed, mode="rb")
        self._most = size_bytes * MAX_RATIO + FREE_BYTES
        self._read_bytes = 0
        self._digest = hashlib.sha256()
        self.head = self._read_head()

    def models(self) -> Iterator[tuple[str, list[str], Iterator[Row]]]:
        """Yield each model with its fields and rows; read these before the next."""
        counts: dict[str, int] = {}
        line = self._line()
        while isinstance(line, dict) and "model" in line:
            model, fields = line["model"], line.get("fields")
            if (
                not isinstance(model, str)
                or not isinstance(fields, list)
                or not all(isinstance(name, str) for name in fields)
                or model in counts
            ):
                raise self.damaged(problem="a model in it cannot be read")
            counts[model] = 0
            following: list[object] = []
            yield model, fields, self._rows(model, len(fields), counts, following)
            line = following[0]
        self._check_end(line, counts)

    def damaged(self, *, problem: str) -> BackupDamagedError:
        return BackupDamagedError(file=self._name, problem=problem)

    def _rows(
        self, model: str, width: int, counts: dict[str, int], following: list[object]
    ) -> Iterator[Row]:
        while isinstance(line := self._line(), list):
            if len(line) != width:
                raise self.damaged(problem=f"a row of {model:.80} is too long")
            counts[model] += 1
            yield line
        following.append(line)

    def _read_head(self) -> BackupHead:
        line = self._line()
        if not isinstance(line, dict):
            raise self.damaged(problem="its first line cannot be read")
        # A newer version may write more, and is refused by its migrations.
        names = [one.name for one in fields(BackupHead)]
        try:
            head = BackupHead(**{name: line[name] for name in names if name in line})
            is_right = (
                all(isinstance(text, str) for text in (head.made_by, head.engine))
                and all(isinstance(key, str) for key in head.secret_keys)
                and all(
                    [type(part) for part in one] == [str, str]
                    for one in head.migrations
                )
            )
        except TypeError as error:
            raise self.damaged(problem="its first line cannot be read") from error
        if not is_right:
            raise self.damaged(problem="its first line cannot be read")
        return head

    def _check_end(self, line: object, counts: dict[str, int]) -> None:
        if not isinstance(line, dict) or line.get("end") != counts:
            raise self.damaged(problem="it does not have the rows that it names")
        if line.get("sha256") != self._before or self._packed.read(1):
            raise self.damaged(problem="its digest differs")

    def _line(self) -> object:
        try:
            line = self._packed.readline(MAX_LINE_BYTES)
            self._before = self._digest.hexdigest()
            self._digest.update(line)
            self._read_bytes += len(line)
            if not line.endswith(b"\n"):
                raise self.damaged(problem="it ends too early")
            if self._read_bytes > self._most:
                raise self.damaged(problem="it is packed more tightly than a backup is")
            value: object = json.loads(line)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise self.damaged(problem="it is cut or not packed by gzip") from error
        except (ValueError, RecursionError) as error:
            raise self.damaged(problem="a line in it is not JSON") from error
        return value
