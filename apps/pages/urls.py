"""The lines of a URL configuration: pages, what is read in one form, and actions.

An address says which methods it answers: its view need not.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods, require_POST

from apps.pages.request.parameters import Takes, check_parameters, names_of

View: TypeAlias = Callable[..., HttpResponseBase]


def page(  # noqa: PLR0913 (what is said of a page)
    route: str,
    view: View,
    name: str,
    *,
    csv: bool = False,
    json_route: str | None = None,
    takes: Takes = (),
    posts: bool = False,
) -> list[URLPattern]:
    """Return the patterns of a page: HTML, `.json` and, for a list, `.csv`.

    Args:
        route: Where the page is, as in `django.urls.path`.
        view: Called with `fmt`: "html", "json" or "csv".
        name: URL name of the page; the machine forms append `-json` and `-csv`.
        csv: Whether the page is a list.
        json_route: Path of the machine forms without their suffix; by default the
            route without its trailing slash.
        posts: Whether the page takes what its own form sends, by POST.
    """
    allowed = ["GET", "HEAD", *(["POST"] if posts else [])]
    view = require_http_methods(allowed)(_with_parameters(view, tuple(takes)))
    base = route.rstrip("/") if json_route is None else json_route
    patterns = [
        path(route, view, {"fmt": "html"}, name=name),
        path(f"{base}.json", view, {"fmt": "json"}, name=f"{name}-json"),
    ]
    if csv:
        patterns.append(path(f"{base}.csv", view, {"fmt": "csv"}, name=f"{name}-csv"))
    return patterns


def answer(route: str, view: View, name: str, **fixed: str) -> URLPattern:
    """Return the pattern of what has one form; its view is told what is fixed."""
    return path(route, require_http_methods(["GET", "HEAD"])(view), fixed, name=name)


def action(route: str, view: View, name: str) -> URLPattern:
    """Return the pattern of what a form or a button does, by POST."""
    return path(route, require_POST(view), name=name)


def _with_parameters(view: View, takes: Takes) -> View:
    """Return a view that says which parameters of an address are not its own."""
    known = names_of(takes)

    @wraps(view)
    def checked(
        request: HttpRequest, *args: object, fmt: str, **names: object
    ) -> HttpResponseBase:
        elsewhere = check_parameters(request, fmt, known)
        return elsewhere or view(request, *args, fmt=fmt, **names)

    checked.takes = takes  # type: ignore[attr-defined]  # so that the REST API has them
    return checked
