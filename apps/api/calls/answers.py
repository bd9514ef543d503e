"""What an endpoint answers, and the response that is made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import HttpResponse, HttpResponseBase

from deltaweb.web.pages.responses import json_response


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is not simply what the endpoint has found.

    Attributes:
        data: The body; None for an empty one.
        status: Of HTTP.
        headers: Further headers.
        about: Of an answer that holds a secret, what may be said of it later: a call
            that is repeated is told this instead, for the answer is kept nowhere.
    """

    data: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] | None = None


def response_of(answer: Answer | HttpResponseBase) -> HttpResponseBase:
    """Return an answer as a response of HTTP."""
    if isinstance(answer, HttpResponseBase):
        return answer
    if answer.data is None:
        response = HttpResponse(status=answer.status)
    else:
        response = json_response(answer.data, status=answer.status)
    for name, value in answer.headers.items():
        response[name] = value
    return response
