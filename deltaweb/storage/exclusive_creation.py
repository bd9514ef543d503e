"""Whether a server keeps the promise that commits rely on: to create, never replace.

Drivers ask for it by `If-None-Match: *`, which S3 answers with 412 where there is a
file; Azure knows the same header, and Google `ifGenerationMatch=0`. Servers that only
speak like S3 may pass over a header that they do not know and replace the file: so each
is tried once, on a name that exists, before the first commit goes there.

Source: delta_protocol_first_draft.md, "Blob Store Requirements"; Amazon S3,
"Conditional writes".
"""

import contextlib
from typing import Any, Final
from uuid import uuid4

from deltaweb.delta.writing.errors import StoreNotWritableError

EXCLUSIVE: Final = "that a file is created only where none is"
NOT_KNOWN: Final = ("NotImplemented", "not implemented")
_proven: Final[set[tuple[str, str]]] = set()


def check_creates(fs: Any, folder: str, *, access: str, shown: str) -> None:  # noqa: ANN401  # fsspec has no types
    """Refuse a server that replaces what it should only create; asked once.

    Args:
        fs: A driver of fsspec.
        folder: Where to try: the log's URL.
        access: What tells servers and credentials apart.
        shown: The table's root, for the error.

    Raises:
        StoreNotWritableError: If it replaces, or says that it cannot do otherwise.
    """
    place = access, folder.partition("://")[2].partition("/")[0]
    if place in _proven:
        return
    name = f"{folder}/.probe-{uuid4().hex}.tmp"
    fs.pipe_file(name, b"first")
    try:
        if _replaces(fs, name):
            raise StoreNotWritableError(location=shown, promise=EXCLUSIVE)
    finally:
        with contextlib.suppress(Exception):  # it is no part of any table
            fs.rm_file(name)
    _proven.add(place)


def _replaces(fs: Any, name: str) -> bool:  # noqa: ANN401  # as above
    try:
        fs.pipe_file(name, b"second", mode="create")
    except FileExistsError:
        return False
    except Exception as error:
        if any(sign in str(error) for sign in NOT_KNOWN):
            return True
        raise
    return True
