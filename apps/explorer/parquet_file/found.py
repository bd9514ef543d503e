"""The file that an address names, among the files of a version; and that address."""

from dataclasses import dataclass
from urllib.parse import unquote, urlencode, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from django.urls import reverse

from apps.explorer.grid import MAX_PATH_LENGTH
from apps.explorer.parquet_file.form import FileQuery
from apps.explorer.version.table_version import TableVersion
from apps.pages.errors import PageError

UNKNOWN_SIZE = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file of a table; of one that its version does not list little is known.

    Attributes:
        path: As the log writes it.
        size: Its bytes; None if unknown.
        modified: Milliseconds since the epoch; None likewise.
        num_records: Its rows; None where the log does not tell.
        rank: Its place among the version's files by size, from 1.
    """

    path: str
    size: int | None = None
    modified: int | None = None
    partition: tuple[tuple[str, str | None], ...] = ()
    num_records: int | None = None
    is_listed: bool = True
    rank: int = 0
    num_files: int = 0

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


class FileNotListedError(PageError, code="file-not-listed"):
    """The version lists no such file."""

    status = 404
    message: str = "This version of the table has no file {name!r}."
    hint: str = "The list of files has those of every version that can be read."
    name: str = ""


class FileAmbiguousError(PageError, code="file-ambiguous"):
    """The version lists several files of the name."""

    status = 404
    message: str = "This version of the table has {count:,} files named {name!r}."
    hint: str = "Add folder=…, as in the list of files."
    name: str = ""
    count: int = 0


def find_file(files: pa.Table, name: str, query: FileQuery) -> FoundFile:
    """Return the file of a name."""
    path = f"{query.folder}/{name}" if query.folder else name
    place = pc.index(files["path"], path).as_py()
    if place < 0 and query.is_unlisted:
        return _unlisted(path, name)
    if place < 0 and not query.folder:
        place = _only_one(files, name)
    if place < 0:
        raise FileNotListedError(name=name[:200])
    row = files.slice(place, 1)
    size = row["size"][0].as_py()
    entries = row["partition_values"][0].as_py() or ()
    has_records = "num_records" in files.column_names
    return FoundFile(
        path=row["path"][0].as_py(),
        size=size,
        modified=row["modification_time"][0].as_py(),
        partition=tuple(entries),
        num_records=row["num_records"][0].as_py() if has_records else None,
        rank=1 + (pc.sum(pc.greater(files["size"], size)).as_py() or 0),
        num_files=files.num_rows,
    )


def _only_one(files: pa.Table, name: str) -> int:
    """Return the place of the only file of a name, in whatever folder; -1 of none."""
    is_it = pc.ends_with(files["path"], f"/{name}")
    count = pc.sum(is_it).as_py() or 0
    if count > 1:
        raise FileAmbiguousError(name=name[:200], count=count)
    place: int = pc.index(is_it, value=True).as_py()
    return place


def _unlisted(path: str, name: str) -> FoundFile:
    """Return a file below the table that nobody lists, such as one that was removed.

    A path of the log may lead to any allowed place; one that somebody has typed leads
    nowhere but below the table.
    """
    decoded = unquote(path)
    parts = decoded.split("/")
    is_elsewhere = decoded.startswith(("/", "\\")) or urlsplit(decoded).scheme
    if is_elsewhere or ".." in parts or not decoded.isprintable():
        raise FileNotListedError(name=name[:200])
    return FoundFile(path=path, is_listed=False)


def file_address(at: TableVersion, path: str) -> str:
    """Return the page of a file of a version; "" where no address can name it."""
    folder, _, name = path.rpartition("/")
    if name in {"", ".", ".."} or len(path) > MAX_PATH_LENGTH:
        return ""
    url = reverse(
        "explorer:file-detail", args=[at.table.namespace, at.table.name, name]
    )
    query = {"folder": folder} if folder else {}
    if not at.is_latest:
        query["v"] = str(at.version)
    return f"{url}?{urlencode(query)}" if query else url
