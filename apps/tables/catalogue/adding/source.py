"""The file that rows, or columns, are taken of: brought, at a place, or a command's."""

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from apps.accounts.models import User
from apps.tables.catalogue.adding.uploads import upload_path
from apps.tables.errors import AskerGoneError
from apps.tables.models.rights import VIEW
from apps.tables.storage.locations import (
    check_allowed,
    is_remote,
    parse_location,
)
from apps.tables.storage.opening import open_file
from apps.tables.storage.roots import hidden_places, roots_for
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.source_file import OpenFile, SourceFiles


@dataclass(frozen=True, kw_only=True)
class FileAsked:
    """Parameters that name a file.

    Attributes:
        user_id: Who asks, and may read it; None for the command line, which names
            `files` of this machine, and of the stores that it may read.
        upload: The id of a file that somebody brought; empty for one at `path`.
        path: Where the server reads files: a path, or a URL of an object store.
        file_name: What people call it.
        file_format: Its format; empty to go by its name.
        form: How its texts are written, as `TextForm` has it.
    """

    user_id: int | None
    files: tuple[str, ...] = ()
    upload: str = ""
    path: str = ""
    file_name: str = ""
    file_format: str = ""
    form: dict[str, Any] = field(default_factory=dict)


def place_of_file(text: str) -> str:
    """Return where a command reads a file: any here, and of stores that are allowed."""
    if not is_remote(text):
        return text
    location = parse_location(text)
    check_allowed(location, roots=roots_for(None))
    return location


def check_file(asked: FileAsked) -> str:
    """Return the path of the file; who asked may read it."""
    if asked.upload:
        return str(upload_path(asked.upload, user_id=asked.user_id))
    check_allowed(asked.path, roots=roots_for(asker(asked.user_id)))
    return asked.path


def asker(user_id: int | None) -> User:
    """Return who has asked for a job, as long as they may sign in."""
    asking = User.objects.filter(is_active=True)
    found = None if user_id is None else asking.filter(pk=user_id).first()
    if found is None:
        raise AskerGoneError
    return found


def _opener(asked: FileAsked) -> OpenFile:
    """Return what opens a file.

    A file of a table that its asker may not see is not there.
    """
    if asked.upload or not asked.path:
        return open_file
    hidden = hidden_places(asker(asked.user_id), VIEW)

    def opened(path: str) -> pa.NativeFile:
        if hidden.hides(path):
            raise FileNotFoundError(path)
        return open_file(path)

    return opened


def source_files(asked: FileAsked) -> SourceFiles:
    """Return the file, or those of a command, as the library reads them."""
    is_command = asked.user_id is None
    return SourceFiles(
        paths=[*map(place_of_file, asked.files)] if is_command else [check_file(asked)],
        names=asked.files if is_command else [asked.path or asked.file_name],
        file_format=asked.file_format,
        form=TextForm(**asked.form),
        open_file=_opener(asked),
    )
