"""A page and its machine forms from one line of a URL configuration."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, path

from deltaweb.web.pages.request.parameters import Takes, check_parameters, names_of


def page(  # noqa: PLR0913 (what is said of a page)
    route: str,
    view: Callable[..., HttpResponseBase],
    name: str,
    *,
    csv: bool = False,
    json_route: str | None = None,
    takes: Takes = (),
) -> list[URLPattern]:
    """Return the patterns of a page: HTML, `.json` and, for a list, `.csv`.

    Args:
        route: Where the page is, as in `django.urls.path`.
        view: Called with `fmt`: "html", "json" or "csv".
        name: URL name of the page; the machine forms append `-json` and `-csv`.
        csv: Whether the page is a list.
        json_route: Path of the machine forms without their suffix; by default the
            route without its trailing slash.
    """
    view = _with_parameters(view, tuple(takes))
    base = route.rstrip("/") if json_route is None else json_route
    patterns = [
        path(route, view, {"fmt": "html"}, name=name),
        path(f"{base}.json", view, {"fmt": "json"}, name=f"{name}-json"),
    ]
    if csv:
        patterns.append(path(f"{base}.csv", view, {"fmt": "csv"}, name=f"{name}-csv"))
    return patterns


def _with_parameters(
    view: Callable[..., HttpResponseBase], takes: Takes
) -> Callable[..., HttpResponseBase]:
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
