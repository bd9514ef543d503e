"""The files below a table's root: a folder, or a page of a listing, at a time.

Names become Arrow texts as they come, so that a million of them are never objects.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

import pyarrow as pa

from deltaweb.delta.log.store import FileStatus
from deltaweb.storage.data_path import LOG_FOLDER
from deltaweb.storage.objects.listing import (
    file_status,
    is_log,
    lists_by_pages,
    object_pages,
)

Status: TypeAlias = tuple[str, int, int]
"""The place of a file below a root, its size in bytes, its time in milliseconds."""


def places_of(names: Iterable[str]) -> pa.StringArray:
    """Return names as Arrow text; those that are none are left out."""
    return pa.array([name for name in names if _is_text(name)], pa.string())


def statuses_of(statuses: Iterable[Status]) -> pa.RecordBatch:
    """Return places, sizes and times as Arrow; names that are no text are left out."""
    kept = [status for status in statuses if _is_text(status[0])]
    places, sizes, times = zip(*kept, strict=True) if kept else ((), (), ())
    return pa.record_batch(
        [
            pa.array(places, pa.string()),
            pa.array(sizes, pa.int64()),
            pa.array(times, pa.int64()),
        ],
        names=["place", "size", "modification_time"],
    )


def file_statuses(folder: str, names: Iterable[str], below: str) -> Iterator[Status]:
    """Yield the files of a local folder; one that went away is skipped.

    Args:
        below: Its place below the table's root.
    """
    prefix = f"{below}/" if below else ""
    for name in names:
        try:
            found = os.stat(f"{folder}/{name}", follow_symlinks=False)  # noqa: PTH116  # plain text is faster than Path, for each of many files
        except FileNotFoundError:
            continue
        yield prefix + name, found.st_size, found.st_mtime_ns // 1_000_000


def entry_statuses(
    entries: Iterable[os.DirEntry[str]], first: str
) -> Iterator[FileStatus]:
    """Yield size and time of each file from a name on; of none that went away."""
    for entry in entries:
        name = entry.name
        if name < first:
            continue
        try:
            found = entry.stat()
        except FileNotFoundError:
            continue
        if stat.S_ISREG(found.st_mode):
            yield FileStatus(name, found.st_size, found.st_mtime_ns // 1_000_000)


def walk_folders(
    root: str, *, is_followed: Callable[[str], bool], skipped: str
) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each folder below a root, itself first, with the names of its files.

    A link to a folder is followed once, if at all.

    Args:
        is_followed: Tells whether a path is listed to which a link leads.
        skipped: The folder of the root that is not listed.

    Yields:
        Its path, its place below the root, and the names.
    """
    waiting, linked = [root], {os.path.realpath(root)}
    while waiting:
        folder = waiting.pop()
        names: list[str] = []
        try:
            entries = os.scandir(folder)
        except (FileNotFoundError, NotADirectoryError):
            continue
        with entries:
            for entry in entries:
                if not entry.is_dir():
                    names.append(entry.name)
                elif (folder != root or entry.name != skipped) and _is_new(
                    entry, linked, is_followed
                ):
                    waiting.append(entry.path)
        yield folder, folder[len(root) :].lstrip("/"), names


def _is_new(
    entry: "os.DirEntry[str]", linked: set[str], is_followed: Callable[[str], bool]
) -> bool:
    if not entry.is_symlink():
        return True
    place = os.path.realpath(entry.path)
    if place in linked or not is_followed(place):
        return False
    linked.add(place)
    return True


def linked_places(root: str, places: Sequence[str]) -> Iterator[str]:
    """Yield where files really are below a root that a link on their way leads to."""
    base = os.path.realpath(root)
    folders: dict[str, str] = {}
    for place in places:
        folder, _, name = place.rpartition("/")
        if folder not in folders:
            folders[folder] = os.path.realpath(f"{root}/{folder}")
        real = f"{folders[folder].rstrip('/')}/{name}"
        if os.path.islink(real):  # noqa: PTH114  # as above
            real = os.path.realpath(real)
        below = real.removeprefix(f"{base.rstrip('/')}/")
        if below not in (place, real):
            yield below


def local_table_above(root: str) -> str | None:
    """Return the nearest folder above a path that is a table; None where none is.

    Folders that may not be listed are skipped: nobody could be warned of them.
    """
    for start in dict.fromkeys((os.path.realpath(root), os.path.abspath(root))):  # noqa: PTH100  # plain text is faster than Path
        folder, below = os.path.dirname(start), start  # noqa: PTH120  # as above
        while folder != below:
            with suppress(OSError), os.scandir(f"{folder}/{LOG_FOLDER}") as entries:
                if is_log(entry.name for entry in entries):
                    return folder
            folder, below = os.path.dirname(folder), folder  # noqa: PTH120  # as above
    return None


def list_below(fs: Any, root: str) -> Iterator[list[str]]:  # noqa: ANN401 (fsspec has no types)
    """Yield the places of all files below a URL, those of a log too."""
    if lists_by_pages(fs):
        for page in object_pages(fs, root):
            yield [entry["name"] for entry in page]
        return
    top = None  # the root as the driver spells it
    for folder, _, files in fs.walk(root):
        top = folder if top is None else top
        below = folder[len(top) :].lstrip("/")
        yield [f"{below}/{name}" if below else name for name in files]


def list_statuses_below(fs: Any, root: str) -> Iterator[Iterable[Status]]:  # noqa: ANN401 (as above)
    """Yield the same with sizes and times."""
    if lists_by_pages(fs):
        for page in object_pages(fs, root):
            yield [(str(entry["name"]), *file_status(entry)[1:]) for entry in page]
        return
    top = None
    for folder, _, files in fs.walk(root, detail=True):
        top = folder if top is None else top
        below = folder[len(top) :].lstrip("/")
        prefix = f"{below}/" if below else ""
        yield [
            (f"{prefix}{name}", *file_status({**entry, "name": name})[1:])
            for name, entry in files.items()
        ]


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
