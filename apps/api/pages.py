"""Endpoints that are the JSON form of a page: its parameters, answer and rights.

An answer about one version of a table has a tag. What else such an answer tells, as how
far the index is by now, is beside the point: the tag is a weak one.
"""

import hashlib
import typing
from collections.abc import Callable, Iterable
from dataclasses import make_dataclass
from http import HTTPStatus
from typing import Annotated, Any, Final

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern
from django.utils.cache import get_conditional_response

from apps.accounts.models import Scope
from apps.accounts.permissions import signed_in
from apps.accounts.zones import user_zone_name
from apps.api.endpoint import Role, endpoint
from apps.pages.page_json import Mark
from apps.pages.request.list_page import ListPage
from apps.pages.request.parameters import VERSION, Takes, names_of
from apps.tables.head.finding import get_table, requested_version
from deltaweb import version as release

KEPT: Final = "private, no-cache"  # by the client that asks again each time
LENGTH: Final = 32


def tag_of(request: HttpRequest, namespace: str, name: str, version: str) -> str:
    """Return the tag of the answer to a request.

    Args:
        request: Its address and who asks are part of it.
        namespace: Of the table.
        name: Likewise.
        version: As somebody wrote it.
    """
    user = signed_in(request)
    table = get_table(user, namespace, name)
    parts = (
        release.VERSION,
        table.id,
        requested_version(table, version),
        request.path,
        sorted(request.GET.lists()),
        user.role,
        user_zone_name(user),
    )
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()
    return f'W/"{digest[:LENGTH]}"'


Pages = Iterable[Any]
"""URL patterns."""


def page_endpoint(  # noqa: PLR0913 (what is said of a page)
    patterns: Pages,
    name: str,
    answers: type,
    says: str,
    *,
    role: str = Role.VIEWER,
    waits: bool = False,
    without: str = "",
    scope: Scope | None = None,
) -> Callable[..., HttpResponseBase]:
    """Return the endpoint that answers what a page's `.json` does.

    Args:
        patterns: The URL patterns that have the page.
        name: The URL name of the page.
        answers: The dataclass of its JSON form.
        says: What the endpoint does, in a sentence.
        role: Who may open it.
        waits: Whether it answers 202 while a job is at what it shows.
        without: Parameters of its address that are for its HTML alone.
        scope: What a key must be for; reading for None.
    """
    view = _view_of(patterns, f"{name}-json")
    takes = _fewer(view.takes, without.split())  # type: ignore[attr-defined]  # of `page`
    by_status: dict[int, type | None] = {200: answers}
    if waits:
        by_status[202] = answers
    if VERSION in names_of(takes):
        by_status[304] = None

    def get(_self: object, request: HttpRequest, **parts: Any) -> HttpResponseBase:  # noqa: ANN401 (of the address)
        version = parts.get("version", request.GET.get(VERSION, ""))
        if version == "" or "namespace" not in parts:
            return view(request, fmt="json", **parts)
        tag = tag_of(request, parts["namespace"], parts["name"], str(version))
        same = get_conditional_response(request, etag=tag)
        response = same or view(request, fmt="json", **parts)
        if same or response.status_code == HTTPStatus.OK:
            response["ETag"], response["Cache-Control"] = tag, KEPT
        return response

    get.__doc__ = says
    get.page = view  # type: ignore[attr-defined]  # whose JSON form it is
    return endpoint(role, takes=takes, answers=by_status, scope=scope)(get)


def list_of(on: ListPage[Any]) -> type:
    """Return the dataclass of the JSON form of a list."""
    returned = typing.get_type_hints(on.page)["return"]
    page = typing.get_type_hints(typing.get_origin(returned) or returned)
    of = typing.get_args(returned)
    rows = page["rows"][of] if of else page["rows"]
    place: Any = Annotated[page["paged"], Mark.SPREAD]  # noqa: F821 (no name of a type)
    fields = [("place", place), ("next", str | None), (on.entries, rows)]
    name = f"{on.entries.capitalize()}Page"
    return make_dataclass(name, fields, frozen=True)


def _view_of(patterns: Pages, name: str) -> Callable[..., HttpResponseBase]:
    found = (one for one in patterns if isinstance(one, URLPattern))
    return next(one.callback for one in found if one.name == name)


def _fewer(takes: Takes, without: Iterable[str]) -> Takes:
    """Return parameters but for some of those that are named in words."""
    left = set(without)
    return [
        " ".join(name for name in part.split() if name not in left)
        if isinstance(part, str)
        else part
        for part in takes
    ]
