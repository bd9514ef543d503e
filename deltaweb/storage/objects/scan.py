"""Finding tables below a folder or URL: a folder at a time, many at once.

A folder is a table where something lies below its `_delta_log/`; a table is not
entered. One request to an object store tells a table; a folder that is not one takes a
list with a delimiter besides, of all its pages. Folders that hold data of others,
hidden ones and those of an engine, are skipped; depth and number are bounded.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias

from deltaweb.delta.errors import DeltaError
from deltaweb.storage.data_path import LOG_FOLDER
from deltaweb.storage.location import same_scheme, without_credentials
from deltaweb.storage.objects.driver import driver_faults, fault_of, open_driver
from deltaweb.storage.objects.errors import BucketNotFoundError
from deltaweb.storage.objects.listing import GOOGLE, is_s3, protocols

MAX_DEPTH: Final = 12
MAX_FOLDERS: Final = 200_000
MAX_TABLES: Final = 20_000
AT_ONCE: Final = 16  # requests
FIRST_S: Final = 4.0  # for the first: a dead address is soon told
REQUEST_S: Final = 60.0
LOOK_S: Final = 0.5  # between two reports

Parts: TypeAlias = tuple[str, ...]
Pages: TypeAlias = Callable[[Any, str, str, bool, float], Iterator[list[str]]]
Visit: TypeAlias = Callable[[Parts], list[str] | None]
"""Returns the names of the folders in one, or None where it is a table."""


@dataclass(slots=True, kw_only=True)
class FoundTables:
    """What a scan found.

    Attributes:
        tables: For each table the parts of its path below the root, in order; `()` is
            the root.
        num_folders: How many were inspected, tables among them.
        truncated: Whether a bound ended the scan early.
    """

    root: str
    tables: list[Parts] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    num_folders: int = 0
    truncated: bool = False

    def location(self, parts: Parts) -> str:
        """Return where a table is."""
        return "/".join((self.root.rstrip("/"), *parts)) or "/"


def find_objects(
    root: str,
    options: Mapping[str, Any],
    *,
    on_progress: Callable[[FoundTables], None] = lambda _: None,
) -> FoundTables:
    """Find the tables below a URL.

    Args:
        on_progress: Told twice a second what is found so far; what it raises ends the
            scan.
    """
    visit = object_visit(root, options)
    return find_below(root, visit, at_once=AT_ONCE, on_progress=on_progress)


def find_below(  # noqa: PLR0913  # the bounds of a scan
    root: str,
    visit: Visit,
    *,
    at_once: int = 1,
    on_progress: Callable[[FoundTables], None] = lambda _: None,
    max_depth: int = MAX_DEPTH,
    max_folders: int = MAX_FOLDERS,
) -> FoundTables:
    """Find the tables below a root by looking into a folder after the other.

    Args:
        visit: Looks into one folder; DeltaError and OSError make it unreadable.
    """
    found = FoundTables(root=root)
    found.num_folders = 1
    waiting = _look(found, (), visit, max_depth)
    running: dict[Future[list[Parts]], Parts] = {}
    with ThreadPoolExecutor(at_once, thread_name_prefix="scan") as pool:
        try:
            while waiting or running:
                while waiting and len(running) < 2 * at_once:
                    parts = waiting.pop()
                    one = pool.submit(_look, found, parts, visit, max_depth)
                    running[one] = parts
                    found.num_folders += 1
                done, _ = wait(running, LOOK_S, FIRST_COMPLETED)
                for one in done:
                    parts = running.pop(one)
                    try:
                        waiting += one.result()
                    except (DeltaError, OSError):
                        found.unreadable.append("/".join(parts))
                # Each that waits is one more at least.
                if found.num_folders >= max_folders or len(found.tables) >= MAX_TABLES:
                    found.truncated = found.truncated or bool(waiting)
                    waiting.clear()
                on_progress(found)
        finally:
            for one in running:
                one.cancel()
    found.tables.sort()
    found.unreadable.sort()
    return found


def _look(
    found: FoundTables, parts: Parts, visit: Visit, max_depth: int
) -> list[Parts]:
    """Note a table, or return the folders to look into next, the first one last."""
    names = visit(parts)
    if names is None:
        found.tables.append(parts)
        return []
    if names and len(parts) >= max_depth:
        found.truncated = True
        return []
    return [(*parts, name) for name in reversed(names)]


def is_skipped(name: str) -> bool:
    """Whether a folder is hidden, internal to an engine, or a partition's data."""
    return name.startswith((".", "_")) or "=" in name or not name.isprintable()


# === Object stores ===


def object_visit(root: str, options: Mapping[str, Any]) -> Visit:
    """Return what looks into the folders below a URL."""
    fs = open_driver(root, options)
    shown, base = without_credentials(root), same_scheme(root).rstrip("/")
    lister = _lister(fs)

    def visit(parts: Parts) -> list[str] | None:
        timeout_s = REQUEST_S if parts else FIRST_S
        with _list_faults(fs, shown):
            return lister("/".join((base, *parts)), timeout_s)

    return visit


def first_object(root: str, options: Mapping[str, Any]) -> str | None:
    """Return the key of any object below a URL, by one brief request."""
    fs = open_driver(root, options)
    place = same_scheme(root)
    with _list_faults(fs, without_credentials(root)):
        pages = _pages_of(fs)
        if pages is None:
            entries = fs.find(place, maxdepth=1)
            return str(entries[0]) if entries else None
        bucket, key, *_ = fs.split_path(f"{place}/")
        prefix = f"{key.strip('/')}/".lstrip("/")
        found = next(pages(fs, bucket, prefix, True, FIRST_S), None)  # noqa: FBT003
    return found[0] if found else None


@contextmanager
def _list_faults(fs: Any, shown: str) -> Iterator[None]:  # noqa: ANN401  # as above
    """Tell faults of a list as errors of ours; what it does not find is the bucket."""
    with driver_faults(partial(fault_of, location=shown, fs=fs)):
        try:
            yield
        except FileNotFoundError:
            raise BucketNotFoundError(location=shown) from None


def _pages_of(fs: Any) -> Pages | None:  # noqa: ANN401  # fsspec has no types
    if is_s3(fs):
        return _s3_pages
    if GOOGLE in protocols(fs):
        return _google_pages
    return _azure_pages if hasattr(fs, "service_client") else None


def _lister(fs: Any) -> Callable[[str, float], list[str] | None]:  # noqa: ANN401  # fsspec has no types
    pages = _pages_of(fs)
    if pages is None:
        return lambda folder, _: _any_folders(fs, folder)

    def look(folder: str, timeout_s: float) -> list[str] | None:
        bucket, key, *_ = fs.split_path(f"{folder}/")
        prefix = f"{key.strip('/')}/".lstrip("/")
        log = f"{prefix}{LOG_FOLDER}/"
        if any(pages(fs, bucket, log, True, timeout_s)):  # noqa: FBT003
            return None
        folders = pages(fs, bucket, prefix, False, timeout_s)  # noqa: FBT003
        names = [name[len(prefix) :].rstrip("/") for page in folders for name in page]
        return sorted(name for name in names if name and not is_skipped(name))

    return look


def _s3_pages(
    fs: Any,  # noqa: ANN401  # as above
    bucket: str,
    prefix: str,
    is_first: bool,  # noqa: FBT001
    timeout_s: float,
) -> Iterator[list[str]]:
    """Yield the first object below a prefix, or the folders in it by pages."""
    asked = {"MaxKeys": 1} if is_first else {"Delimiter": "/"}
    position: dict[str, str] = {}
    while True:
        page = fs.call_s3(
            "list_objects_v2",
            Bucket=bucket,
            Prefix=prefix,
            timeout=timeout_s,
            **asked,
            **position,
        )
        if is_first:
            yield from [[entry["Key"]] for entry in page.get("Contents", ())]
            return
        yield [entry["Prefix"] for entry in page.get("CommonPrefixes", ())]
        if not page.get("IsTruncated"):
            return
        position = {"ContinuationToken": page["NextContinuationToken"]}


def _google_pages(
    fs: Any,  # noqa: ANN401  # as above
    bucket: str,
    prefix: str,
    is_first: bool,  # noqa: FBT001
    timeout_s: float,
) -> Iterator[list[str]]:
    asked: dict[str, Any] = {"prefix": prefix, "timeout": timeout_s}
    asked |= {"maxResults": 1} if is_first else {"delimiter": "/"}
    asked["fields"] = "items(name),nextPageToken" if is_first else FOLDER_FIELDS
    while True:
        page = fs.call("GET", "b/{}/o", bucket, json_out=True, **asked)
        if is_first:
            yield from [[entry["name"]] for entry in page.get("items", ())]
            return
        yield page.get("prefixes", [])
        if not page.get("nextPageToken"):
            return
        asked["pageToken"] = page["nextPageToken"]


FOLDER_FIELDS: Final = "prefixes,nextPageToken"


def _azure_pages(
    fs: Any,  # noqa: ANN401  # as above
    bucket: str,
    prefix: str,
    is_first: bool,  # noqa: FBT001
    timeout_s: float,
) -> Iterator[list[str]]:
    from fsspec.asyn import sync  # noqa: PLC0415  # loads only for remote tables

    async def names() -> list[str]:
        client = fs.service_client.get_container_client(container=bucket)
        async with client:
            if is_first:
                blobs = client.list_blobs(name_starts_with=prefix, results_per_page=1)
                return [blob.name async for blob in _first(blobs)]
            below = client.walk_blobs(name_starts_with=prefix, delimiter="/")
            return [one.name async for one in below if one.name.endswith("/")]

    found = sync(fs.loop, names, timeout=timeout_s)
    if found:
        yield found


async def _first(blobs: Any) -> Any:  # noqa: ANN401  # as above
    async for blob in blobs:
        yield blob
        return


def _any_folders(fs: Any, folder: str) -> list[str] | None:  # noqa: ANN401  # as above
    fs.invalidate_cache()
    try:
        entries = fs.ls(folder, detail=True)
    except FileNotFoundError:
        return []
    names = [
        str(entry["name"]).rstrip("/").rpartition("/")[2]
        for entry in entries
        if entry.get("type") == "directory"
    ]
    if LOG_FOLDER in names:
        return None
    return sorted(name for name in names if not is_skipped(name))
