"""Files that people bring: kept in the server's own folder until they are imported.

The name that a file had elsewhere never becomes a path here. What waits has a limit for
each user and one for all: nobody fills the disk that the database lies on.
"""

import fcntl
import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from django.conf import settings

from deltaweb.delta.errors import DeltaError
from deltaweb.words import counted

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

KEPT_S: Final = 24 * 60 * 60
MAX_NAME: Final = 200
FILE_NAME: Final = "data"
COUNTS_NAME: Final = "counts.json"
_OWNER_NAME: Final = "owner"
_HOUR_S: Final = 3600


class UploadTooLargeError(DeltaError, code="upload-too-large"):
    """A file is larger than this server takes."""

    name: str
    size_bytes: int
    most: int
    message = "{name:.200} has {size_bytes:,} bytes; the limit is {most:,}."
    hint = "Put it where the server can read files, and give its path."


class UploadsFullError(DeltaError, code="uploads-full"):
    """So much waits to be imported that no more is taken.

    Attributes:
        whose: Of the files that wait: "your", "the" for those of everybody.
        forgotten_in_s: When the oldest of them goes by itself.
    """

    name: str
    size_bytes: int
    whose: str
    num_files: int
    used_bytes: int
    most: int
    forgotten_in_s: float
    message = (
        "{name:.200} has {size_bytes:,} bytes, and there is no room for it:"
        " {_files} to be imported take {used_bytes:,} of {most:,} bytes."
    )
    hint = (
        "Import what waits: a file is kept until then, or for a day (the oldest goes"
        " in {_wait}). Or put the file where the server reads files, and give its path."
    )

    @property
    def _files(self) -> str:
        return f"{self.whose} {counted(self.num_files, 'file')} that wait"

    @property
    def _wait(self) -> str:
        hours = max(1, math.ceil(self.forgotten_in_s / _HOUR_S))
        return "an hour" if hours == 1 else f"{hours} hours"


class UploadGoneError(DeltaError, code="upload-gone"):
    """A file that was brought is no longer kept, or is somebody else's."""

    status = 404
    message = "The file is no longer kept."
    hint = "Upload it again: a file is kept for a day, or until it is imported."


def uploads_folder() -> Path:
    """Return the folder of the files that people brought."""
    return Path(settings.HOME) / "uploads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A file that waits to be imported.

    Attributes:
        user_id: Who brought it; "" if that is not known.
        kept_at_s: When, in seconds of the epoch.
    """

    user_id: str
    size_bytes: int
    kept_at_s: float


def keep_upload(file: "UploadedFile[bytes]", *, user_id: int) -> tuple[str, str]:
    """Keep a file, and forget those that were kept too long.

    Returns:
        Its id, and the name that people call it.
    """
    name = (file.name or "file").replace("\\", "/").rpartition("/")[2][-MAX_NAME:]
    most = settings.UPLOAD_BYTES
    if (file.size or 0) > most:
        raise UploadTooLargeError(name=name, size_bytes=file.size or 0, most=most)
    upload = str(uuid4())
    with _locked():
        forget_old_uploads()
        _check_room(name, file.size or 0, str(user_id))
        folder = uploads_folder() / upload
        folder.mkdir(mode=0o700)
        try:
            (folder / _OWNER_NAME).write_text(str(user_id), encoding="ascii")
            with (folder / FILE_NAME).open("xb") as kept:
                for chunk in file.chunks():
                    kept.write(chunk)
        except BaseException:  # a part of a file would fill the disk for a day
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return upload, name


def upload_path(upload: str, *, user_id: int | None) -> Path:
    """Return where a file is kept, to the user who brought it."""
    path = _kept_path(upload)
    if _owner_of(path.parent) != str(user_id):
        raise UploadGoneError
    return path


def _kept_path(upload: str) -> Path:
    path = uploads_folder() / str(UUID(upload)) / FILE_NAME
    if not path.is_file():
        raise UploadGoneError
    return path


def _owner_of(folder: Path) -> str:
    """Return who brought a file; "" for one brought before owners were noted."""
    try:
        return (folder / _OWNER_NAME).read_text(encoding="ascii")
    except OSError:
        return ""


def upload_digest(upload: str) -> str:
    """Return the SHA-256 of the bytes of a file, in hex."""
    with _kept_path(upload).open("rb") as kept:
        return hashlib.file_digest(kept, "sha256").hexdigest()


def note_counts(upload: str, key: str, counts: Mapping[str, int | None]) -> None:
    """Keep what a preview has counted, beside the file: the last look's alone.

    Args:
        key: What the counts hang on: its bytes, and what was asked of them.
    """
    folder = _kept_path(upload).parent
    kept_since = folder.stat()
    beside = folder / f"{COUNTS_NAME}.new"
    beside.write_text(json.dumps({"key": key, "counts": dict(counts)}))
    beside.rename(folder / COUNTS_NAME)
    os.utime(folder, (kept_since.st_atime, kept_since.st_mtime))  # its age stays


def noted_counts(upload: str, key: str) -> dict[str, Any] | None:
    """Return what a preview has counted by that key; None where none has."""
    try:
        text = (_kept_path(upload).parent / COUNTS_NAME).read_text()
    except FileNotFoundError:
        return None
    noted = json.loads(text)
    return dict(noted["counts"]) if noted["key"] == key else None


def forget_upload(upload: str) -> None:
    """Delete a file that was imported."""
    shutil.rmtree(uploads_folder() / str(UUID(upload)), ignore_errors=True)


def forget_old_uploads() -> None:
    """Delete the files that nobody has imported in time."""
    for folder in _kept():
        try:
            is_old = time.time() - folder.stat().st_mtime > KEPT_S
        except OSError:
            continue
        if is_old:
            shutil.rmtree(folder, ignore_errors=True)


def _check_room(name: str, size_bytes: int, user_id: str) -> None:
    """Refuse a file for which those that wait leave no room."""
    waiting = list(_waiting())
    own = [one for one in waiting if one.user_id == user_id]
    for whose, files, most in (
        ("your", own, settings.UPLOADS_USER_BYTES),
        ("the", waiting, settings.UPLOADS_BYTES),
    ):
        used = sum(one.size_bytes for one in files)
        if used + size_bytes > most:
            oldest = min((one.kept_at_s for one in files), default=time.time())
            raise UploadsFullError(
                name=name,
                size_bytes=size_bytes,
                whose=whose,
                num_files=len(files),
                used_bytes=used,
                most=most,
                forgotten_in_s=oldest + KEPT_S - time.time(),
            )


def _waiting() -> Iterator[Waiting]:
    for folder in _kept():
        try:
            status = (folder / FILE_NAME).stat()
        except OSError:
            continue
        yield Waiting(
            user_id=_owner_of(folder),
            size_bytes=status.st_size,
            kept_at_s=status.st_mtime,
        )


def _kept() -> list[Path]:
    folder = uploads_folder()
    return [one for one in folder.iterdir() if one.is_dir()] if folder.is_dir() else []


@contextmanager
def _locked() -> Iterator[None]:
    """Let one file be counted and kept at a time: two may not take the same room."""
    folder = uploads_folder()
    folder.mkdir(parents=True, mode=0o700, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # until it is closed
        yield
    finally:
        os.close(handle)
