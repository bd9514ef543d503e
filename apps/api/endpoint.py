"""An endpoint: who may call it, what it takes, what it answers.

    class TableList(RestView):
        @endpoint(Role.EDITOR, body=NewTable, answers={201: TableResource})
        def post(self, request: HttpRequest, body: NewTable) -> Answer:
            \"\"\"Register a table.\"\"\"

Its parameters are those of the page that it stands beside, its body and its answers are
dataclasses: by what is said here a call is checked, and OpenAPI describes it.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NoReturn

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from rest_framework.request import Request
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from apps.accounts.models import Scope, User
from apps.accounts.permissions import (
    admin_required,
    check_scope,
    editor_required,
    key_of,
    scope_of_page,
)
from apps.api.calls import MULTIPART, Answer, answer_once
from apps.api.errors import (
    BodyInvalidError,
    MethodNotAllowedError,
    NotJSONError,
    TooManyCallsError,
)
from apps.api.openapi import ViewSchema
from apps.api.shapes import serializer_of
from apps.pages.errors import error_response
from apps.pages.request.parameters import (
    Takes,
    check_names,
    check_query,
    names_of,
)
from apps.pages.request.rate_limits import RateLimit
from deltaweb.environment.bounded_json import parse_json

if TYPE_CHECKING:
    from django.core.files.uploadedfile import UploadedFile

Role = User.Role
MAX_FAULTS: Final = 5  # of a body, that its refusal names
_NUL: Final = re.compile(r"(?<!\\)(\\\\)*\\u0000")  # which databases do not keep
GUARDS: Final[Mapping[str, Callable[..., Any]]] = {
    Role.VIEWER: lambda view: view,  # whoever is signed in: the middleware sees to it
    Role.EDITOR: editor_required,
    Role.ADMIN: admin_required,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """What is said of an endpoint.

    Attributes:
        role: Who may call it, at least.
        scope: What a key must be for; None is reading or writing, by the method.
        takes: The parameters of its address.
        body: A dataclass that the body is read into; None where it has none.
        file: Whether the body is a form of many parts with a `file` instead.
        answers: By status, the dataclass of each answer; None for an empty one.
    """

    role: str
    scope: Scope | None = None
    takes: Takes = ()
    body: type | None = None
    file: bool = False
    answers: Mapping[int, type | None]


def count_call(request: HttpRequest) -> None:
    """Count a call of an API key; a person in a browser is not counted."""
    key = key_of(request)
    if key is None:
        return
    calls = RateLimit(
        file="rates-api",
        rate_per_s=settings.API_REQUESTS_PER_S,
        burst=settings.API_REQUEST_BURST,
    )
    wait_s = calls.take(key.id.bytes, now_s=time.monotonic())
    if wait_s > 0:
        raise TooManyCallsError(wait_s=wait_s)


def endpoint(  # noqa: PLR0913 (what is said of an endpoint)
    role: str,
    *,
    scope: Scope | None = None,
    takes: Takes = (),
    body: type | None = None,
    file: bool = False,
    answers: type | Mapping[int, type | None],
) -> Callable[[Callable[..., object]], Callable[..., HttpResponseBase]]:
    """Make a method of a `RestView` an endpoint.

    The method gets the parts of the address, Django's `request` where it names it, and
    `body` or `file` where it has one. It returns a response, an `Answer`, or the data
    of the first of `answers`. All else is as `Endpoint` has it; of answers, a dataclass
    alone is that of 200.
    """
    by_status = answers if isinstance(answers, Mapping) else {200: answers}
    declared = Endpoint(
        role=role,
        scope=scope,
        takes=tuple(takes),
        body=body,
        file=file,
        answers=by_status,
    )
    known = names_of(declared.takes)
    first = next(iter(by_status))

    def decorate(method: Callable[..., object]) -> Callable[..., HttpResponseBase]:
        takes_request = "request" in signature(method).parameters

        @wraps(method)
        def answered(
            view: "RestView", wrapped: Request, **parts: object
        ) -> HttpResponseBase:
            request = wrapped._request  # noqa: SLF001 (whose types all below have)
            count_call(request)

            def guarded(request: HttpRequest) -> HttpResponseBase:
                check_scope(request, declared.scope or scope_of_page(request))
                check_query(request, known)
                if body is not None:
                    parts["body"] = read_body(request, body)
                if file:
                    parts["file"] = read_file(request)
                return answer_once(request, called)

            def called() -> Answer | HttpResponseBase:
                if takes_request:
                    parts["request"] = request
                found = method(view, **parts)
                if isinstance(found, Answer | HttpResponseBase):
                    return found
                return Answer(found, first)

            answered: HttpResponseBase = GUARDS[role](guarded)(request)
            return answered

        answered.endpoint = declared  # type: ignore[attr-defined]  # for `openapi`
        return answered

    return decorate


class RestView(APIView):
    """Base of the endpoints of one address: who calls is known by the middleware.

    Nothing is negotiated: bodies and answers are JSON.
    """

    authentication_classes = []
    permission_classes = []
    parser_classes = []
    renderer_classes = []
    throttle_classes = []
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    schema = ViewSchema()

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:  # noqa: ANN401 (Django's own)
        """Return the view: DRF takes its own out of what Django's middleware does.

        Here a call has to be of somebody, and one by a session needs its CSRF token.
        """
        view: Any = super().as_view(**initkwargs)
        view.csrf_exempt, view.login_required = False, True
        view.checks_scope = True  # each endpoint has its own
        return view

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Negotiate nothing."""

    def http_method_not_allowed(
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> NoReturn:
        """Refuse a method that the endpoint does not have."""
        del args, kwargs
        raise MethodNotAllowedError(
            method=request.method or "", allowed=self.allowed_methods
        )

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # any response will do
        """Say which methods there are; the middleware renders all other errors."""
        if not isinstance(exc, MethodNotAllowedError):
            raise exc
        response = error_response(self.request._request, exc)  # noqa: SLF001 (as above)
        response["Allow"] = ", ".join(exc.allowed)
        return response


def read_body(request: HttpRequest, kind: type) -> Any:  # noqa: ANN401 (the dataclass)
    """Read the body of a request.

    Args:
        request: The request.
        kind: A dataclass; an empty body is one without a value.
    """
    content_type = request.content_type or ""
    if request.body and content_type != "application/json":
        raise NotJSONError(content_type=content_type[:100])
    try:
        values = parse_json(request.body or b"{}", parse_constant=_no_number)
        text = json.dumps(values, ensure_ascii=False)
        text.encode()  # or half a character would be kept
    except (ValueError, RecursionError):
        raise BodyInvalidError(reason="it is not JSON") from None
    if _NUL.search(text):
        raise BodyInvalidError(reason="a text has a NUL character")
    return body_of(values, kind)


def read_file(request: HttpRequest) -> "UploadedFile[bytes]":
    """Return the file of a form of many parts."""
    if request.content_type != MULTIPART:
        raise BodyInvalidError(reason=f"it is not {MULTIPART}")
    check_names(request.POST, frozenset())
    files = request.FILES.getlist("file")
    if len(files) != 1 or len(request.FILES) != 1:
        raise BodyInvalidError(reason="it has no part that is a file and named `file`")
    return files[0]


def body_of(values: object, kind: type) -> Any:  # noqa: ANN401 (the dataclass)
    """Return JSON values as a dataclass."""
    serializer = serializer_of(kind)(data=values)
    if not serializer.is_valid():
        reason = "; ".join(islice(_faults(serializer.errors), MAX_FAULTS))
        raise BodyInvalidError(reason=reason.rstrip("."))
    return serializer.validated_data


def _faults(errors: object, path: str = "") -> Iterator[str]:
    """Yield what is wrong with each part of a body, behind its path."""
    if isinstance(errors, Mapping):
        for name, one in errors.items():
            below = (
                "" if name == api_settings.NON_FIELD_ERRORS_KEY else f".{name!s:.40}"
            )
            yield from _faults(one, f"{path}{below}")
    elif isinstance(errors, list):
        for one in errors:
            yield from _faults(one, path)
    else:
        yield f"{path}: {errors!s:.200}".lstrip(".: ")


def _no_number(text: str) -> NoReturn:
    raise ValueError(text)
