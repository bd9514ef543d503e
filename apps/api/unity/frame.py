"""What the endpoints here have in common: errors by their codes, times, places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponse

from apps.api.endpoint import RestView
from apps.api.errors import MethodNotAllowedError
from apps.pages.errors import PageError
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.request.middleware import readable_error
from apps.pages.request.parameters import cleaned
from apps.pages.responses import json_response
from apps.sharing.names import name_key

T = TypeVar("T")

PAGE_LENGTH: Final = 100
MAX_RESULTS: Final = 1000
_CODES: Final[Mapping[int, str]] = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_DOES_NOT_EXIST",
    409: "RESOURCE_CONFLICT",
    429: "RESOURCE_EXHAUSTED",
    503: "TEMPORARILY_UNAVAILABLE",
}
_UNREADABLE: Final = "INVALID_PARAMETER_VALUE"
_TAKEN: Final = "name-taken"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as clients of Unity Catalog read it.

    Attributes:
        error_code: By which they tell one from another.
        message: What went wrong and what to do about it.
        details: Nothing; clients look for it.
    """

    error_code: str
    message: str
    details: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPage:
    """Where a page of a list goes on; unity's own lists are made of it."""

    next_page_token: str | None


class UnityView(RestView):
    """Base of the endpoints: their errors have the codes that clients know."""

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # as the base
        """Answer an error that says what it means; Django answers the rest."""
        error = readable_error(exc)
        if error is None or isinstance(error, MethodNotAllowedError):
            return super().handle_exception(exc)
        return _refused(error)


class PlaceForm(forms.Form):
    """Which page of a list: how many entries, and after which one."""

    max_results = forms.IntegerField(min_value=0, max_value=MAX_RESULTS, required=False)
    page_token = forms.CharField(max_length=1000, required=False)


def page_of(request: HttpRequest, rows: Any) -> tuple[Sequence[Any], str | None]:  # noqa: ANN401 (any named rows)
    """Return a page of shares or recipients, and the token of the next one."""
    place = cleaned(PlaceForm(request.GET))
    # 0 is how clients ask for as many as the server sees fit.
    length, after = place["max_results"] or PAGE_LENGTH, place["page_token"]
    if after:
        rows = rows.filter(name_key__gt=name_key(after))
    page = list(rows.order_by("name_key")[: length + 1])
    more = len(page) > length
    return page[:length], page[length - 1].name if more else None


def sent(value: T | None) -> T | Unchanged:
    """Return a field of an update; clients do not send null to remove a value."""
    return UNCHANGED if value is None else value


def milliseconds(moment: datetime | None) -> int | None:
    """Return a time as clients read it: milliseconds since 1970."""
    return None if moment is None else int(moment.timestamp() * 1000)


def _refused(error: PageError) -> HttpResponse:
    status, code = error.status, _CODES.get(error.status, _UNREADABLE)
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        status = HTTPStatus.BAD_REQUEST
    if error.code == _TAKEN:
        code = "RESOURCE_ALREADY_EXISTS"
    refusal = Refusal(code, f"{error.message} {error.hint}".strip(), [])
    response = json_response(refusal, status=status)
    retry_after_s = getattr(error, "retry_after_s", None)
    if retry_after_s is not None:
        response["Retry-After"] = str(retry_after_s)
    return response
