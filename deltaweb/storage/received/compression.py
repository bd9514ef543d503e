"""Answers that a server compresses without being asked to."""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
from urllib3.response import BaseHTTPResponse

from deltaweb.storage.received.errors import ProviderAnswerError

PART_BYTES: Final = 1 << 20
_CODECS: Final = {
    **dict.fromkeys(("gzip", "x-gzip", "deflate"), "gzip"),  # knows both by their heads
    "br": "brotli",
    "zstd": "zstd",
}


def decompressed(response: BaseHTTPResponse, host: str) -> Iterator[bytes]:
    """Yield the parts of a body, each of at most `PART_BYTES`.

    Source: RFC 9110, 8.4.1 "Content Codings".

    Args:
        response: One that is not decoded yet.
        host: Where it comes from, for errors.
    """
    named = response.headers.get("Content-Encoding", "").lower().split(",")
    codings = [one.strip() for one in named if one.strip() not in {"", "identity"}]
    if not codings:
        while part := response.read1(PART_BYTES, decode_content=False):
            yield part
        return
    codec = _CODECS.get(codings[0]) if len(codings) == 1 else None
    if codec is None or not pa.Codec.is_available(codec):
        reason = "its answer is compressed in a way that was not requested"
        raise ProviderAnswerError(provider=host, reason=reason)
    response.decode_content = False  # pyarrow finds out where a stream is cut off
    try:
        with pa.CompressedInputStream(pa.PythonFile(response, mode="r"), codec) as body:
            while part := body.read(PART_BYTES):
                yield part
    except (OSError, pa.ArrowException):
        reason = "its compressed answer cannot be decompressed"
        raise ProviderAnswerError(provider=host, reason=reason) from None
