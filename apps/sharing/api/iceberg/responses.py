"""Answers and refusals, in the forms of the catalogue and of S3.

Source: Iceberg REST catalogue, `ErrorModel`; Amazon S3, "Error Responses".
"""

from http import HTTPStatus
from typing import Final
from xml.sax.saxutils import escape

from apps.sharing.api.errors import Failure
from apps.sharing.api.responses import NO_STORE, WholeAnswer, json_answer
from apps.sharing.errors import NotGrantedError
from deltaweb.iceberg.access.errors import KeysRefusedError

XML: Final = "application/xml"
_TYPES: Final = {
    HTTPStatus.BAD_REQUEST: "BadRequestException",
    HTTPStatus.UNAUTHORIZED: "NotAuthorizedException",
    HTTPStatus.FORBIDDEN: "ForbiddenException",
    HTTPStatus.NOT_FOUND: "NoSuchEndpointException",
    HTTPStatus.METHOD_NOT_ALLOWED: "UnsupportedOperationException",
    HTTPStatus.CONFLICT: "NotReadyException",
    HTTPStatus.TOO_MANY_REQUESTS: "TooManyRequestsException",
    HTTPStatus.SERVICE_UNAVAILABLE: "ServiceUnavailableException",
}
_S3_CODES: Final = {
    HTTPStatus.BAD_REQUEST: "InvalidRequest",
    HTTPStatus.UNAUTHORIZED: "AccessDenied",
    HTTPStatus.FORBIDDEN: "AccessDenied",
    HTTPStatus.NOT_FOUND: "NoSuchKey",
    HTTPStatus.METHOD_NOT_ALLOWED: "MethodNotAllowed",
    HTTPStatus.CONFLICT: "OperationAborted",
    HTTPStatus.PRECONDITION_FAILED: "PreconditionFailed",
    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE: "InvalidRange",
    HTTPStatus.TOO_MANY_REQUESTS: "SlowDown",
    HTTPStatus.SERVICE_UNAVAILABLE: "SlowDown",
}


def catalog_refusal(failure: Failure, error: Exception) -> WholeAnswer:
    """Return a failure as the catalogue spells it."""
    kind = _TYPES.get(HTTPStatus(failure.status), "InternalServerError")
    message = failure.message
    if isinstance(error, NotGrantedError):
        is_table = error.kind == "table"
        kind = f"NoSuch{'Table' if is_table else 'Namespace'}Exception"
        named = NotGrantedError(
            kind="table" if is_table else "namespace",
            name=error.name.replace("/", "."),
        )
        message = f"{named.message} {named.hint}"
    body = {"message": message, "type": kind, "code": failure.status}
    return _with_headers(json_answer({"error": body}, status=failure.status), failure)


def object_refusal(failure: Failure, error: Exception) -> WholeAnswer:
    """Return a failure as S3 spells it."""
    status = failure.status
    if status == HTTPStatus.UNAUTHORIZED:
        status = HTTPStatus.FORBIDDEN
    code = _S3_CODES.get(HTTPStatus(status), "InternalError")
    if isinstance(error, KeysRefusedError):
        code = error.s3_code
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{code}</Code><Message>{escape(_printable(failure.message))}"
        "</Message></Error>"
    )
    answer = WholeAnswer(text, content_type=XML, status=status)
    answer["Cache-Control"] = NO_STORE
    return _with_headers(answer, failure)


def _printable(text: str) -> str:
    """Return text without characters that XML has no place for."""
    return "".join(one if one.isprintable() else "?" for one in text)


def _with_headers(answer: WholeAnswer, failure: Failure) -> WholeAnswer:
    for name, value in failure.headers.items():
        if name != "WWW-Authenticate" or answer.status_code == HTTPStatus.UNAUTHORIZED:
            answer[name] = value
    return answer
