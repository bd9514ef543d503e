"""A page and its machine forms from one line of a URL configuration."""

from collections.abc import Callable

from django.http import HttpResponseBase
from django.urls import URLPattern, path


def page(
    route: str,
    view: Callable[..., HttpResponseBase],
    name: str,
    *,
    csv: bool = False,
    json_route: str | None = None,
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
    base = route.rstrip("/") if json_route is None else json_route
    patterns = [
        path(route, view, {"fmt": "html"}, name=name),
        path(f"{base}.json", view, {"fmt": "json"}, name=f"{name}-json"),
    ]
    if csv:
        patterns.append(path(f"{base}.csv", view, {"fmt": "csv"}, name=f"{name}-csv"))
    return patterns
