"""Why a call was refused, in words.

A call keeps what it was answered. Records of before kept a code alone, which is
spelled out.
"""

import re
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from apps.audit.models import AuditEvent
from apps.sharing.activity.usage import FIRST_FAILED_STATUS

REASON: Final = "reason"  # in the detail of an event
MAX_REASON: Final = 500
_SECRET: Final = re.compile(r"\bdw[kt]_[\w-]+")
_BY_CODE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "STREAM_BROKEN": (
            "The answer was cut off, because the rest of it could not be read."
        ),
        "UNAUTHENTICATED": "The request had no valid token.",
        "PERMISSION_DENIED": (
            "The caller has no permission, or its address is not allowed."
        ),
        "RESOURCE_DOES_NOT_EXIST": (
            "The requested object does not exist or is not granted to the caller."
        ),
        "RESOURCE_EXHAUSTED": "The caller sent too many requests or reached its limit.",
        "UNSUPPORTED_OPERATION": "The server does not offer what was requested.",
        "INVALID_PARAMETER_VALUE": "A value of the request is not valid.",
        "MALFORMED_REQUEST": "The request cannot be read.",
    }
)


def kept_reason(message: str) -> str:
    """Return what of an answer's message is kept: no secret that it may quote."""
    return _SECRET.sub("\N{HORIZONTAL ELLIPSIS}", message.strip())[:MAX_REASON]


def reason_of(event: AuditEvent) -> str:
    """Return why an event was refused or failed; "" if it was not."""
    detail = event.detail if isinstance(event.detail, dict) else {}
    return reason_in(event.status, event.error_code, detail)


def reason_in(status: int, error_code: str, detail: Mapping[str, Any]) -> str:
    """Return the same of the columns of an event."""
    if status < FIRST_FAILED_STATUS and not error_code:
        return ""
    kept = detail.get(REASON)
    if isinstance(kept, str) and kept:
        return kept
    if known := _BY_CODE.get(error_code):
        return known
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "The server failed. Its log has details under the id of the request."
    spelled = error_code.replace("-", " ").replace("_", " ").lower()
    return f"{spelled.capitalize()}." if spelled else f"Answered with {status}."
