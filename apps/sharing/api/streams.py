"""An answer that is recorded when its stream ends, however it ends."""

import logging
from collections.abc import Iterator
from typing import Final

from deltaweb.web.sharing.api.audit import CallRecord
from deltaweb.web.sharing.api.places import Place

logger = logging.getLogger(__name__)

BROKEN: Final = "STREAM_BROKEN"


class RecordedStream:
    """Passes chunks on, and records the call at their end.

    What fails in the middle is raised: the server then breaks the connection, so that
    a client sees an answer that is not whole, and not a short table.

    Args:
        chunks: The answer's chunks.
        record: What is known of the call.
        status: The status that the answer began with.
        place: Ends when the stream does.
    """

    def __init__(
        self,
        chunks: Iterator[bytes],
        record: CallRecord,
        *,
        status: int = 200,
        place: Place | None = None,
    ) -> None:
        self._chunks = chunks
        self._record = record
        self._status = status
        self._place = place
        self._bytes_sent = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        """Return the next chunk; record the call before its last one is gone."""
        try:
            chunk = next(self._chunks)
        except StopIteration:
            self._record.save(status=self._status)
            raise
        except Exception:
            logger.exception(
                "The answer to request %s broke off", self._record.request_id
            )
            self._end_early("broken")
            self._record.save(status=self._status, error_code=BROKEN)
            raise
        self._bytes_sent += len(chunk)
        return chunk

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
        self._record.detail |= {"ended": how, "bytes_sent": self._bytes_sent}
