"""Whether a server keeps the promise that commits rely on: to create, never replace.

Drivers ask for it by `If-None-Match: *`, which S3 answers with 412 where there is a
file; Azure knows the same header, and Google `ifGenerationMatch=0`. The status alone
counts: s3fs tells that a file exists only where the body of the answer names the
condition, as Amazon's does and MinIO's, Ceph's and SeaweedFS' do not. Servers that only
speak like S3 may skip a header that they do not know and replace the file: so each
is tried once, on a name that exists, before the first commit goes there.

Source: delta_protocol_first_draft.md, "Blob Store Requirements"; Amazon S3,
"Conditional writes".
"""

import contextlib
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

from deltaweb.delta.writing.errors import StoreNotWritableError

EXCLUSIVE: Final = "that a file is created only where none is"
NOT_KNOWN: Final = ("NotImplemented", "not implemented")
_proven: Final[set[tuple[str, str]]] = set()


def create_file(fs: Any, place: str, data: bytes) -> None:  # noqa: ANN401  # fsspec has no types
    """Create a file where none is."""
    try:
        fs.pipe_file(place, data, mode="create")
    except FileExistsError:
        raise
    except Exception as error:
        if _http_status(error) == HTTPStatus.PRECONDITION_FAILED:
            raise FileExistsError(place) from error
        raise


def _http_status(error: BaseException) -> int | None:
    """Return the status of the answer that a driver's error is about, if it says it."""
    for fault in (error, error.__cause__):
        response = getattr(fault, "response", None)
        if isinstance(response, Mapping):  # botocore's
            said = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        else:
            said = getattr(fault, "status_code", None)
        if said is not None:
            return int(said)
    return None


def check_creates(fs: Any, folder: str, *, access: str, shown: str) -> None:  # noqa: ANN401  # fsspec has no types
    """Refuse a server that replaces what it should only create; asked once.

    Args:
        folder: Where to try: the log's URL.
        access: What tells servers and credentials apart.
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
        with contextlib.suppress(Exception):  # it is not a part of any table
            fs.rm_file(name)
    _proven.add(place)


def _replaces(fs: Any, name: str) -> bool:  # noqa: ANN401  # as above
    try:
        create_file(fs, name, b"second")
    except FileExistsError:
        return False
    except Exception as error:
        if any(sign in str(error) for sign in NOT_KNOWN):
            return True
        raise
    return True
