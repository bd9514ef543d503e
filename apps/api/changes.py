"""The endpoints of changes and reads, made of their declarations."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import resolve_url
from django.urls import URLPattern, path

from apps.accounts.models import Scope
from apps.api.calls import Answer
from apps.api.endpoint import RestView, endpoint
from apps.api.pages import list_of, page_endpoint
from apps.pages.actions import stamp_of
from apps.pages.changes.change import Call, Change, Nothing, changes, found_by
from apps.pages.changes.read import Read, reads
from apps.pages.request.list_page import ListPage

CREATED = 201
NO_CONTENT = 204
Method = Callable[..., HttpResponseBase]


def change_paths(
    below: str, others: Mapping[str, type[RestView]] | None = None
) -> Iterator[URLPattern]:
    """Yield the addresses of all changes and reads, below a path.

    Args:
        below: The path of the version of the API.
        others: By route, views with methods that are not made of a declaration.
    """
    _load_pages()
    found: dict[str, tuple[str, dict[str, Method]]] = {}
    for change in changes:
        if change.call is not None:
            _, methods = found.setdefault(change.call.route, (change.call.view, {}))
            methods[change.call.method.lower()] = change_endpoint(change, change.call)
    for read in reads:
        _, methods = found.setdefault(read.route, (read.view, {}))
        methods["get"] = read_endpoint(read)
    for route, (view, methods) in found.items():
        base = (others or {}).get(route, RestView)
        made: Any = type(view, (base,), methods)
        yield path(f"{below}/{route}", made.as_view(), name=url_name(view))


def _load_pages() -> None:
    """Import the pages of all apps, because modules of pages register reads."""
    for app in apps.get_app_configs():
        if app.name.startswith("apps.") and find_spec(f"{app.name}.urls"):
            import_module(f"{app.name}.urls")


def change_endpoint(change: Change[Any, Any, Any], call: Call) -> Method:
    """Return the endpoint of a change; its body has the parameters of that."""
    body = None if change.parameters is Nothing else change.parameters
    is_empty = call.status_of_answer == NO_CONTENT

    def method(_self: object, request: HttpRequest, **parts: Any) -> Answer:  # noqa: ANN401 (of the address)
        asked = parts.pop("body", None) or Nothing()
        subject = found_by(call.find or change.of.find, request.user, parts)
        change.of.may(request.user, subject)
        result = change.carry_out(subject, asked, stamp_of(request))
        is_new = call.is_new is not None and call.is_new(result)
        headers = (
            {"Location": resolve_url(call.location(result))} if call.location else {}
        )
        status = CREATED if is_new else call.status_of_answer
        about = change.kept(result) if change.kept else None
        data = None if is_empty else call.shown(result)
        return Answer(data, status, headers, about)

    method.__doc__ = f"{change.help}\n\n{change.more}".strip()
    shown = call.answers or change.result
    if not isinstance(shown, Mapping):
        statuses = {call.status_of_answer, *([CREATED] if call.is_new else [])}
        shown = dict.fromkeys(statuses, shown)
    answers = {NO_CONTENT: None} if is_empty else shown
    scope = Scope(change.of.scope)
    return endpoint(change.of.role, body=body, answers=answers, scope=scope)(method)


def read_endpoint(read: Read) -> Method:
    """Return the endpoint of a read."""
    scope = Scope(read.scope) if read.scope else None
    shows = list_of(read.shows) if isinstance(read.shows, ListPage) else read.shows
    if read.finds is not None:
        return _answer_of(read, shows, scope)
    app, _, page = read.page.partition(":")
    patterns = import_module(f"apps.{app}.urls").urlpatterns
    return page_endpoint(
        *(patterns, page, shows, read.help),
        role=read.role,
        scope=scope,
        waits=read.waits,
        without=read.without,
    )


def _answer_of(read: Read, shows: type, scope: Scope | None) -> Method:
    finds = read.finds or (lambda **_: None)

    def get(_self: object, request: HttpRequest, **parts: str) -> object:
        return found_by(finds, request.user, parts)

    get.__doc__ = read.help
    return endpoint(read.role, answers=shows, scope=scope)(get)


def url_name(view: str) -> str:
    """Return the URL name of an address: `token-list` of `TokenList`."""
    parts = "".join(f"-{one.lower()}" if one.isupper() else one for one in view)
    return parts.removeprefix("-")
