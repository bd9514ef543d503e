"""Files that people bring: kept in the server's own folder until they are imported.

The name that a file had elsewhere never becomes a path here.
"""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid4

from django.conf import settings

from deltaweb.delta.errors import DeltaError

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

KEPT_S: Final = 24 * 60 * 60
MAX_NAME: Final = 200
FILE_NAME: Final = "data"


class UploadTooLargeError(DeltaError, code="upload-too-large"):
    """A file is larger than this server takes."""

    name: str
    size_bytes: int
    most: int
    message = "{name:.200} has {size_bytes:,} bytes, and {most:,} are taken."
    hint = "Put it where the server reads files, and give its path."


class UploadGoneError(DeltaError, code="upload-gone"):
    """A file that was brought is no longer kept."""

    message = "The file is no longer kept."
    hint = "Bring it once more: a file is kept for a day, or until it is imported."


def uploads_folder() -> Path:
    """Return the folder of the files that people brought."""
    return Path(settings.HOME) / "uploads"


def keep_upload(file: "UploadedFile[bytes]") -> tuple[str, str]:
    """Keep a file, and forget those that were kept too long.

    Returns:
        Its id, and the name that people call it.

    Raises:
        UploadTooLargeError: If it is larger than the setting allows.
    """
    name = (file.name or "file").replace("\\", "/").rpartition("/")[2][-MAX_NAME:]
    most = settings.UPLOAD_BYTES
    if (file.size or 0) > most:
        raise UploadTooLargeError(name=name, size_bytes=file.size or 0, most=most)
    _forget_old()
    upload = str(uuid4())
    folder = uploads_folder() / upload
    folder.mkdir(parents=True, mode=0o700)
    with (folder / FILE_NAME).open("xb") as kept:
        for chunk in file.chunks():
            kept.write(chunk)
    return upload, name


def upload_path(upload: str) -> Path:
    """Return where a file is kept.

    Raises:
        UploadGoneError: If it is not.
    """
    path = uploads_folder() / str(UUID(upload)) / FILE_NAME
    if not path.is_file():
        raise UploadGoneError
    return path


def forget_upload(upload: str) -> None:
    """Delete a file that was imported."""
    shutil.rmtree(uploads_folder() / str(UUID(upload)), ignore_errors=True)


def _forget_old() -> None:
    folder = uploads_folder()
    for kept in folder.iterdir() if folder.is_dir() else ():
        try:
            is_old = time.time() - kept.stat().st_mtime > KEPT_S
        except OSError:
            continue
        if is_old:
            shutil.rmtree(kept, ignore_errors=True)
