"""An answer that is recorded when its stream ends, however it ends."""

import logging
from collections.abc import Iterator
from typing import Final

from apps.sharing.api.audit import ENDED, CallRecord
from apps.sharing.api.errors import failure_of
from apps.sharing.api.places import Place
from deltaweb.sharing.wire.lines import EndAction

logger = logging.getLogger(__name__)

BROKEN: Final = "STREAM_BROKEN"
FAILED: Final = "The server failed in the middle of its answer. Try again."


class RecordedStream:
    """Passes chunks on, and records the call at their end.

    What fails in the middle is told by the last line, where the client knows that
    there is one. Otherwise it is raised: the server then breaks the connection, so
    that a client sees an answer that is not whole, and not a short table.

    Args:
        chunks: The answer's chunks, each of whole lines where it has a last one.
        end: What the last line says when all went well; None without such a line.
    """

    def __init__(
        self,
        chunks: Iterator[bytes],
        record: CallRecord,
        *,
        status: int = 200,
        end: EndAction | None = None,
        place: Place | None = None,
    ) -> None:
        self._chunks = chunks
        self._record = record
        self._status = status
        self._end = end
        self._place = place
        self._bytes_sent = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        """Return the next chunk; record the call before its last one is gone."""
        try:
            chunk = next(self._chunks)
        except StopIteration:
            if self._end is None:
                self._record.save(status=self._status)
                raise
            chunk = self._last_line()
        except Exception as error:
            logger.exception(
                "The answer to request %s was cut off", self._record.request_id
            )
            self._end_early("broken")
            self._record.save(status=self._status, error_code=BROKEN)
            if self._end is None:
                raise
            message = failure_of(error).message or FAILED
            self._end = EndAction(error_message=message)
            self._chunks = iter(())
            chunk = self._last_line()
        self._bytes_sent += len(chunk)
        return chunk

    def _last_line(self) -> bytes:
        """Return the line of the end, after which nothing comes."""
        end, self._end = self._end, None
        return b"" if end is None else end.line()

    def close(self) -> None:
        """Give the place back, and record a call whose client left before the end."""
        if self._place is not None:
            self._place.end()
        close = getattr(self._chunks, "close", None)
        if close is not None:
            close()
        if self._record.is_recorded:
            self._end_early("client left")
            self._record.save(status=self._status)

    def _end_early(self, how: str) -> None:
        self._record.detail |= {ENDED: how, "bytes_sent": self._bytes_sent}
