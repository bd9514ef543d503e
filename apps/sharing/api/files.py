"""The files of local tables, handed out at their signed URLs, whole or a range.

A range is answered by `sendfile` where the server has it: the file stands at the
range's first byte, and `Content-Length` says how many are wanted.

Source: RFC 9110, section 14; sharing_wire.md, 2.6.
"""

import errno
import logging
import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import FileResponse, HttpResponseBase
from rest_framework.request import Request

from apps.sharing.answers.files import FileRequest, open_file
from apps.sharing.api.base import ProtocolView
from apps.sharing.api.keys import file_url_keys, prepared_url_keys
from apps.sharing.api.places import Download
from apps.sharing.api.responses import Answer, WholeAnswer
from deltaweb.sharing.errors import EndpointNotFoundError, RangeUnsatisfiableError

# === The Range header of a request ===


_SINGLE: Final = re.compile(
    r"\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII | re.IGNORECASE
)
_MAX_DIGITS: Final = 19
_LARGEST: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ByteRange:
    """A part of a file: `length` bytes from `first` on."""

    first: int
    length: int

    def content_range(self, size: int) -> str:
        """Return the value of `Content-Range`."""
        return f"bytes {self.first}-{self.first + self.length - 1}/{size}"


def parse_range(header: str | None, *, size: int) -> ByteRange | None:
    """Return the part of a file that is asked for; None for all of it.

    What is malformed, of another unit, or of several parts is ignored, as it may be.

    Args:
        header: The value of `Range`, if any.
        size: The file's size in bytes.
    """
    match = _SINGLE.fullmatch(header or "")
    if match is None or not (match[1] or match[2]):
        return None
    if match[1]:
        first = _number(match[1])
        last = _number(match[2]) if match[2] else _LARGEST
        if last < first:
            return None  # malformed: it ends before it begins
        length = min(last, size - 1) - first + 1
    else:
        length = min(_number(match[2]), size)  # the last so many bytes
        first = size - length
    if length <= 0:
        raise RangeUnsatisfiableError(size_bytes=size)
    return ByteRange(first, length)


def _number(digits: str) -> int:
    """Return a number of any length, one beyond every file as the largest."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) < _MAX_DIGITS else _LARGEST


logger = logging.getLogger(__name__)

# === Files ===


OCTETS: Final = "application/octet-stream"
OK: Final = 200
PARTIAL_CONTENT: Final = 206
BLOCK_BYTES: Final = 1 << 18  # where the server has no sendfile


class FilePart:
    """A part of an open file; reading ends where it does.

    Args:
        file: The file: an io.FileIO, or what the server puts in its place.
    """

    def __init__(self, file: Any, part: ByteRange, download: Download) -> None:  # noqa: ANN401 (as above)
        self._file = file
        self._download = download
        self._end = part.first + part.length
        self._left = part.length
        file.seek(part.first)

    def fileno(self) -> int:
        """Return the descriptor, which stands at the first byte of the part."""
        return int(self._file.fileno())

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes of the part."""
        wanted = self._left if size < 0 else min(size, self._left)
        data: bytes = self._file.read(wanted)
        self._left -= len(data)
        return data

    def is_whole(self) -> bool:
        """Whether the file, still open, goes on to the end of the part."""
        return os.fstat(self.fileno()).st_size >= self._end

    def close(self) -> None:
        """Close the file."""
        self._download.end()
        self._file.close()


class FileAnswer(Answer, FileResponse):
    """A part of a file, or all of it."""

    block_size = BLOCK_BYTES

    def __init__(self, part: FilePart, *, status: int) -> None:
        super().__init__(part, content_type=OCTETS, status=status)
        self._part = part

    def close(self) -> None:
        """Close the file, and the connection where the file became shorter meanwhile.

        What is missing would otherwise be taken from the next answer: the length was
        sent before.
        """
        is_whole = self.closed or self._part.is_whole()
        super().close()
        if not is_whole:
            logger.warning("A file became shorter while it was served")
            raise ConnectionResetError(errno.ECONNRESET, "the file became shorter")


def say_part(
    answer: Answer, part: ByteRange | None, *, size_bytes: int, etag: str
) -> None:
    """Say in the head of an answer which part of which bytes it has; None for all."""
    answer["Content-Length"] = str(part.length if part else size_bytes)
    if part:
        answer["Content-Range"] = part.content_range(size_bytes)
    answer["Accept-Ranges"] = "bytes"
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-store"


class FileView(ProtocolView):
    """GET and HEAD files/{share}/{table id}/{path}.

    Only refusals are recorded: clients ask ten times for a file.
    """

    is_prepared = False

    def get(
        self, request: Request, *, share: str, table_id: str, path: str
    ) -> HttpResponseBase:
        """Answer with the file, or the part of it that is asked for."""
        file, token = open_file(
            FileRequest(
                share=share,
                table_id=_parse_id(table_id),
                path=path,
                query=request.META.get("QUERY_STRING", ""),
                address=self.record.address,
                now=self.now,
                is_prepared=self.is_prepared,
            ),
            keys=prepared_url_keys() if self.is_prepared else file_url_keys(),
            note_caller=self.note_caller,
        )
        self.record.is_recorded = False
        answer: Answer
        with ExitStack() as opening:
            opening.callback(file.close)
            status = os.fstat(file.fileno())
            etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
            part = asked_part(request, size=status.st_size, etag=etag)
            if request.method == "HEAD":
                answer = WholeAnswer(content_type=OCTETS)
            else:
                whole = ByteRange(0, status.st_size)
                download = Download(token.id)
                opening.pop_all()
                answer = FileAnswer(
                    FilePart(file, part or whole, download),
                    status=PARTIAL_CONTENT if part else OK,
                )
        say_part(answer, part, size_bytes=status.st_size, etag=etag)
        return answer


class PreparedFileView(FileView):
    """GET and HEAD prepared/{share}/{table id}/{path}: a rewritten file."""

    is_prepared = True


def asked_part(request: Request, *, size: int, etag: str) -> ByteRange | None:
    """Return the range of a GET, unless it is of another state of the file."""
    condition = request.headers.get("If-Range")
    if request.method != "GET" or condition not in (None, etag):
        return None
    return parse_range(request.headers.get("Range"), size=size)


def _parse_id(text: str) -> UUID:
    try:
        table_id = UUID(text)
    except ValueError:
        raise EndpointNotFoundError from None
    if str(table_id) != text:
        raise EndpointNotFoundError  # dashes elsewhere
    return table_id
