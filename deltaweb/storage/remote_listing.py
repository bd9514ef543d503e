"""What the drivers of fsspec list, as the files of a log."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from deltaweb.delta.log.store import FileStatus

S3_DELETES: Final = 1_000  # objects by one request
S3_LAST: Final = "~"  # sorts after every character of a log's names
TIME_KEYS: Final = ("mtime", "LastModified", "last_modified", "updated", "created")


def list_folder(fs: Any, folder: str, name: str) -> list[FileStatus]:  # noqa: ANN401 (fsspec has no types)
    """Return the files of a folder from `name` on, in order.

    Raises:
        FileNotFoundError: If there is no such folder, in stores that have folders.
    """
    found = iterate_folder(fs, folder, name)
    return sorted(status for status in found if status.name >= name)


def iterate_folder(fs: Any, folder: str, name: str) -> Iterator[FileStatus]:  # noqa: ANN401 (as above)
    """Yield the files of a folder as they are listed: of S3 from `name` on, in order.

    Raises:
        FileNotFoundError: As `list_folder` does.
    """
    entries = _s3_entries if is_s3(fs) else _entries
    yield from map(file_status, entries(fs, folder, name))


def is_s3(fs: Any) -> bool:  # noqa: ANN401 (as above)
    """Tell whether the driver can begin a listing at a name."""
    return hasattr(fs, "call_s3")


def delete_objects(fs: Any, places: Sequence[str]) -> None:  # noqa: ANN401 (as above)
    """Delete objects of S3, a thousand by one request; what is not there is passed.

    Raises:
        OSError: If one of them cannot be deleted.
    """
    for first in range(0, len(places), S3_DELETES):
        paths = [fs.split_path(place) for place in places[first : first + S3_DELETES]]
        objects = {"Objects": [{"Key": key} for _, key, _ in paths], "Quiet": True}
        answer = fs.call_s3("delete_objects", Bucket=paths[0][0], Delete=objects)
        for fault in answer.get("Errors", ()):
            code = str(fault.get("Code"))
            raise PermissionError(code) if code == "AccessDenied" else OSError(code)


def _entries(fs: Any, folder: str, _name: str) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 (as above)
    for entry in fs.ls(folder, detail=True):
        if entry.get("type") == "file":
            yield entry


def _s3_entries(fs: Any, folder: str, name: str) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401 (as above)
    """List by pages that begin right before `name`."""
    bucket, prefix, _ = fs.split_path(f"{folder}/")
    prefix = f"{prefix.rstrip('/')}/"
    # StartAfter leaves out its own key, so it is one that sorts just before.
    before = name[:-1] + chr(ord(name[-1]) - 1) + S3_LAST if name else ""
    position = {"StartAfter": f"{prefix}{before}"} if before else {}
    while True:
        page = fs.call_s3(
            "list_objects_v2",
            Bucket=bucket,
            Prefix=prefix,
            Delimiter="/",
            **position,
        )
        for entry in page.get("Contents", ()):
            if not entry["Key"].endswith("/"):
                yield {**entry, "name": entry["Key"], "size": entry["Size"]}
        if not page.get("IsTruncated"):
            return
        position = {"ContinuationToken": page["NextContinuationToken"]}


def file_status(entry: Mapping[str, Any]) -> FileStatus:
    """Return what a driver says of one file."""
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
