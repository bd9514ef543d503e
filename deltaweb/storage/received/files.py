"""A data file behind a URL that ends: read in ranges, under a new URL when it must be.

Source: RFC 9110, 14 "Range Requests".
"""

import io
from collections.abc import Callable
from typing import Final

from deltaweb.delta.errors import DataFileError
from deltaweb.storage.received.budget import LookBudget
from deltaweb.storage.received.columns import SignedURL
from deltaweb.storage.received.patience import (
    MAX_ANSWER_BYTES,
    PATIENT,
    HTTPRequest,
)
from deltaweb.storage.received.transport import HTTPAnswer, Transport

AHEAD_BYTES: Final = 1 << 20  # each request takes longer than the work that it is for
MAX_WHOLE_BYTES: Final = 512 << 20  # of a file whose server knows no ranges
ASK_PROVIDER: Final = (
    "Try again later. If the problem persists, ask the provider of the share."
)
_WHOLE, _PART, _NO_RANGE = 200, 206, 416
_ENDED: Final = frozenset({400, 401, 403, 404, 410})


class RangedFile(io.RawIOBase):
    """One file as pyarrow reads it.

    Its footer says how much of it is read at once, so that is bounded as any answer is.

    Args:
        renew: Returns where it is when its URL has ended.
        budget: What all requests draw from; None where each has its own limit.
    """

    def __init__(
        self,
        path: str,
        signed: SignedURL,
        *,
        renew: Callable[[], SignedURL],
        transport: Transport,
        budget: LookBudget | None = None,
    ) -> None:
        self._path, self._signed = path, signed
        self._renew, self._transport = renew, transport
        self._budget = budget
        self._place = self._start = 0
        self._held = b""
        if signed.size_bytes is None:
            self._held = self._whole(self._ask({}))
            self._size = len(self._held)
        else:
            self._size = signed.size_bytes
            self._load(max(0, self._size - AHEAD_BYTES), self._size)

    def read(self, size: int | None = -1) -> bytes:
        rest = max(0, self._size - self._place)
        length = rest if size is None or size < 0 else min(size, rest)
        if length > MAX_ANSWER_BYTES:
            reason = (
                f"it requires {length:,} bytes at once (limit {MAX_ANSWER_BYTES:,})"
            )
            raise self._fault(reason)
        start, end = self._place, self._place + length
        if length and not self._start <= start <= end <= self._start + len(self._held):
            self._load(start, min(self._size, max(end, start + AHEAD_BYTES)))
        self._place = end
        return self._held[start - self._start : end - self._start]

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}
        self._place = max(0, base[whence] + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def seekable(self) -> bool:
        """Every range can be asked for."""
        return True

    def readable(self) -> bool:
        """It is read alone."""
        return True

    def _load(self, start: int, end: int) -> None:
        if start >= end:
            return
        answer = self._ask({"Range": f"bytes={start}-{end - 1}"}, most=end - start)
        if answer.status == _WHOLE:
            self._start, self._held = 0, self._whole(answer)
        else:
            self._start, self._held = start, answer.body
        if self._start + len(self._held) < end:
            reason = f"it has fewer bytes than its provider says ({self._size:,})"
            raise self._fault(reason)

    def _ask(self, headers: dict[str, str], *, most: int = 0) -> HTTPAnswer:
        """Send one request; once more under a new URL where the old one has ended."""
        bound = max(most, MAX_WHOLE_BYTES)
        answer = self._get(headers, bound)
        if answer.status in _ENDED:
            self._signed = self._renew()
            answer = self._get(headers, bound)
        if answer.status not in {_WHOLE, _PART}:
            reason = f"its store answers with HTTP {answer.status}"
            raise self._fault(reason)
        return answer

    def _fault(self, reason: str) -> DataFileError:
        return DataFileError(path=self._path, reason=reason, hint=ASK_PROVIDER)

    def _get(self, headers: dict[str, str], bound: int) -> HTTPAnswer:
        request = HTTPRequest(
            "GET", self._signed.url, headers, max_bytes=bound, retries=PATIENT
        )
        return self._transport.ask(request, self._budget)

    def _whole(self, answer: HTTPAnswer) -> bytes:
        if answer.status != _WHOLE:
            reason = "its store answers with a part that was not requested"
            raise self._fault(reason)
        return answer.body
