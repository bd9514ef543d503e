"""The files of local tables, handed out at their signed URLs.

A range is answered by `sendfile` where the server has it: the file stands at the
range's first byte, and `Content-Length` says how many are wanted.

Source: RFC 9110, section 14; sharing_wire.md, 2.6.
"""

import errno
import logging
import os
from contextlib import ExitStack
from typing import Any, Final
from uuid import UUID

from django.http import FileResponse, HttpResponseBase
from rest_framework.request import Request

from deltaweb.sharing.errors import EndpointNotFoundError
from deltaweb.web.sharing.answers.files import FileRequest, open_file
from deltaweb.web.sharing.api.base import ProtocolView
from deltaweb.web.sharing.api.files.ranges import ByteRange, parse_range
from deltaweb.web.sharing.api.keys import file_url_keys, prepared_url_keys
from deltaweb.web.sharing.api.places import Download
from deltaweb.web.sharing.api.responses import Answer, WholeAnswer

logger = logging.getLogger(__name__)

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
        )
        self.record.is_recorded = False
        answer: Answer
        with ExitStack() as opening:
            opening.callback(file.close)
            status = os.fstat(file.fileno())
            etag = f'"{status.st_mtime_ns:x}-{status.st_size:x}"'
            part = _asked_part(request, size=status.st_size, etag=etag)
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


def _asked_part(request: Request, *, size: int, etag: str) -> ByteRange | None:
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
