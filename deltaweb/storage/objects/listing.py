"""What the drivers of fsspec list, as the files of a log."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.paths import (
    parse_checkpoint_name,
    parse_commit_name,
)
from deltaweb.delta.log.store import FileStatus
from deltaweb.storage.data_path import LOG_FOLDER

S3_DELETES: Final = 1_000  # objects by one request
S3_LAST: Final = "~"  # sorts after every character of a log's names
GOOGLE: Final = "gs"
GOOGLE_FIELDS: Final = "items(name,size,updated),nextPageToken"
TIME_KEYS: Final = ("mtime", "LastModified", "last_modified", "updated", "created")


def list_folder(fs: Any, folder: str, name: str) -> list[FileStatus]:  # noqa: ANN401 (fsspec has no types)
    """Return the files of a folder from `name` on, in order."""
    found = iterate_folder(fs, folder, name)
    return sorted(status for status in found if status.name >= name)


def iterate_folder(fs: Any, folder: str, name: str) -> Iterator[FileStatus]:  # noqa: ANN401 (as above)
    """Yield the files of a folder as they are listed.

    S3 and Google begin at `name` and list in order; other stores list all of it.
    """
    if lists_by_pages(fs):
        pages = object_pages(fs, folder, name=name, is_deep=False)
        entries = (entry for page in pages for entry in page)
        yield from map(file_status, entries)
        return
    for entry in fs.ls(folder, detail=True):
        if entry.get("type") == "file":
            yield file_status(entry)


def is_s3(fs: Any) -> bool:  # noqa: ANN401 (as above)
    return hasattr(fs, "call_s3")


def lists_by_pages(fs: Any) -> bool:  # noqa: ANN401 (as above)
    """Whether the driver can begin a listing at a name, and goes on page by page."""
    return is_s3(fs) or GOOGLE in protocols(fs)


def object_pages(
    fs: Any,  # noqa: ANN401 (as above)
    folder: str,
    *,
    name: str = "",
    is_deep: bool = True,
) -> Iterator[list[dict[str, Any]]]:
    """Yield the objects of a folder by pages of a thousand, in the order of names.

    Args:
        name: The first name; empty for all.
        is_deep: Whether those of folders below are listed, too.

    Yields:
        Objects as the store tells them, and `name`: what follows the folder's own.
    """
    bucket, prefix, _ = fs.split_path(f"{folder}/")
    prefix = f"{prefix.rstrip('/')}/"
    pages = _s3_pages if is_s3(fs) else _google_pages
    for page in pages(fs, bucket, prefix, name, "" if is_deep else "/"):
        yield [
            {**entry, "name": key[len(prefix) :]}
            for key, entry in page
            if is_deep or not key.endswith("/")
        ]


def protocols(fs: Any) -> tuple[str, ...]:  # noqa: ANN401 (as above)
    """Return the schemes of a driver."""
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


Pages = Iterator[list[tuple[str, dict[str, Any]]]]


def _s3_pages(fs: Any, bucket: str, prefix: str, name: str, delimiter: str) -> Pages:  # noqa: ANN401 (as above)
    # StartAfter leaves out its own key, so it is one that sorts just before.
    before = name[:-1] + chr(ord(name[-1]) - 1) + S3_LAST if name else ""
    asked = {"Delimiter": delimiter} if delimiter else {}
    position = {"StartAfter": f"{prefix}{before}"} if before else {}
    while True:
        page = fs.call_s3(
            "list_objects_v2", Bucket=bucket, Prefix=prefix, **asked, **position
        )
        yield [
            (entry["Key"], {**entry, "size": entry["Size"]})
            for entry in page.get("Contents", ())
        ]
        if not page.get("IsTruncated"):
            return
        position = {"ContinuationToken": page["NextContinuationToken"]}


def _google_pages(
    fs: Any,  # noqa: ANN401 (as above)
    bucket: str,
    prefix: str,
    name: str,
    delimiter: str,
) -> Pages:
    asked = {"prefix": prefix, "fields": GOOGLE_FIELDS}
    if delimiter:
        asked["delimiter"] = delimiter
    if name:
        asked["startOffset"] = f"{prefix}{name}"
    while True:
        page = fs.call("GET", "b/{}/o", bucket, json_out=True, **asked)
        yield [(entry["name"], entry) for entry in page.get("items", ())]
        if not page.get("nextPageToken"):
            return
        asked["pageToken"] = page["nextPageToken"]


def remote_table_above(
    root: str, list_names: Callable[[str], Iterator[str]]
) -> str | None:
    """Return the nearest URL above another one that is a table; None where none is."""
    scheme, separator, rest = root.partition("://")
    above = rest.rstrip("/").rpartition("/")[0]
    while above:
        with contextlib.suppress(FileNotFoundError, DeltaError):
            if is_log(list_names(f"{scheme}{separator}{above}/{LOG_FOLDER}")):
                return f"{scheme}{separator}{above}"
        above = above.rpartition("/")[0]
    return None


def is_log(names: Iterator[str]) -> bool:
    """Tell whether a folder with these files is the log of a table."""
    return any(
        parse_commit_name(name) is not None or parse_checkpoint_name(name) is not None
        for name in names
    )


def delete_objects(fs: Any, places: Sequence[str]) -> None:  # noqa: ANN401 (as above)
    """Delete objects of S3, a thousand by one request; what is not there is passed."""
    for first in range(0, len(places), S3_DELETES):
        paths = [fs.split_path(place) for place in places[first : first + S3_DELETES]]
        objects = {"Objects": [{"Key": key} for _, key, _ in paths], "Quiet": True}
        answer = fs.call_s3("delete_objects", Bucket=paths[0][0], Delete=objects)
        for fault in answer.get("Errors", ()):
            code = str(fault.get("Code"))
            raise PermissionError(code) if code == "AccessDenied" else OSError(code)


def file_status(entry: Mapping[str, Any]) -> FileStatus:
    name = str(entry["name"]).rstrip("/").rpartition("/")[2]
    return FileStatus(name, int(entry.get("size") or 0), _modification_ms(entry))


def _modification_ms(entry: Mapping[str, Any]) -> int:
    """Return the time of a file in milliseconds, 0 where the driver tells none."""
    for key in TIME_KEYS:
        value = entry.get(key)
        if isinstance(value, str):
            with contextlib.suppress(ValueError):
                value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return int(moment.timestamp() * 1000)
        if isinstance(value, int | float):
            return int(value * 1000)
    return 0
