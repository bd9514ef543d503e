"""The answers of the protocol, in the three forms that they have.

Source: delta_sharing_protocol.md, "REST APIs"; sharing_wire.md, 2.1 and 2.7.
"""

from collections.abc import Iterable
from typing import Final

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

from deltaweb.sharing.capabilities import (
    ANSWERED_LATER,
    FILE_ID_HEADER,
    HEADER,
    Capabilities,
    answered,
)
from deltaweb.sharing.json_text import json_bytes
from deltaweb.sharing.response_format import ResponseFormat

JSON: Final = "application/json; charset=utf-8"
NDJSON: Final = "application/x-ndjson; charset=utf-8"
VERSION_HEADER: Final = "Delta-Table-Version"
SKIPPED_HINTS_HEADER: Final = "deltaweb-skipped-hints"


NO_STORE: Final = "no-store"


class Answer(HttpResponseBase):
    """Marks a response as one that was made here, in a form of the protocol."""


class WholeAnswer(Answer, HttpResponse):
    """An answer that is made before it is sent."""


class StreamedAnswer(Answer, StreamingHttpResponse):
    """An answer that is sent while it is made, by whichever thread is free.

    Source: `deltaweb.serving.bodies`.
    """

    may_wait = True


def json_answer(body: object, *, status: int = 200) -> WholeAnswer:
    """Answer one line of JSON: clients read no more than the first line."""
    answer = WholeAnswer(json_bytes(body), content_type=JSON, status=status)
    answer["Cache-Control"] = NO_STORE
    return answer


def version_answer(version: int) -> WholeAnswer:
    """Answer a version by its header alone."""
    answer = WholeAnswer(content_type=JSON)
    answer["Cache-Control"] = NO_STORE
    return set_version(answer, version)


def set_version(answer: WholeAnswer, version: int) -> WholeAnswer:
    """Tell the version of a table beside an answer."""
    answer[VERSION_HEADER] = str(version)
    return answer


def lines_answer(
    lines: bytes, response_format: ResponseFormat, *, version: int
) -> WholeAnswer:
    """Answer a few lines of JSON."""
    answer = WholeAnswer(lines, content_type=NDJSON)
    _set_table_headers(answer, response_format, version)
    return answer


def later_answer(body: object) -> WholeAnswer:
    """Answer how far a query is that is answered later."""
    answer = WholeAnswer(json_bytes(body) + b"\n", content_type=NDJSON)
    answer[HEADER] = ANSWERED_LATER
    answer["Cache-Control"] = NO_STORE
    return answer


def stream_answer(
    lines: Iterable[bytes],
    response_format: ResponseFormat,
    *,
    version: int,
    capabilities: Capabilities,
    num_skipped_hints: int,
) -> StreamedAnswer:
    """Answer lines of JSON while they are made.

    Hints that select nothing are counted in a header: people whose filter does
    nothing would otherwise never know. A way to derive ids that was asked for is
    confirmed, and so is that a last line says that the answer has ended.
    """
    answer = StreamedAnswer(lines, content_type=NDJSON)
    _set_table_headers(
        answer, response_format, version, with_end=capabilities.wants_end
    )
    if capabilities.file_id_scheme:
        answer[FILE_ID_HEADER] = capabilities.file_id_scheme
    if num_skipped_hints:
        answer[SKIPPED_HINTS_HEADER] = str(num_skipped_hints)
    return answer


def error_answer(status: int, error_code: str, message: str) -> WholeAnswer:
    """Answer an error as the protocol spells it."""
    return json_answer({"errorCode": error_code, "message": message}, status=status)


def without_body(answer: WholeAnswer) -> WholeAnswer:
    """Make an answer the one to HEAD: the headers of GET, and nothing after them."""
    if "Content-Length" not in answer:
        answer["Content-Length"] = str(len(answer.content))
    answer.content = b""
    return answer


def _set_table_headers(
    answer: HttpResponseBase,
    response_format: ResponseFormat,
    version: int,
    *,
    with_end: bool = False,
) -> None:
    answer[VERSION_HEADER] = str(version)
    answer[HEADER] = answered(response_format.name, with_end=with_end)
    answer["Cache-Control"] = NO_STORE
