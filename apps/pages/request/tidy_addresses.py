"""Addresses that people type or forms write, and the ones that are meant."""

import re
from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path
from django.utils.http import escape_leading_slashes

_OVERVIEW = re.compile(r"^(?P<table>/t/[^/]+/[^/]+)/overview(?P<suffix>\.json)?$")


def page_meant(request: HttpRequest) -> str | None:
    """Return the address of the page that a path without one misses by a slash.

    Slashes too many or too few are mended, and the overview of a table, whose address
    is that of the table, is found by its name. Only pages are led to; the query stays.
    """
    path = next(filter(_is_page, _nearby(request.path_info)), None)
    if path is None:
        return None
    prefix = request.path.removesuffix(request.path_info)
    return _with_query(f"{prefix}{path}", request.META.get("QUERY_STRING", ""))


def without_empty_parts(request: HttpRequest) -> str | None:
    """Return the address without the parameters that say nothing, or None.

    A form writes `q=` for a field that was left empty. A bare `add` is no such part.
    """
    parts = request.META.get("QUERY_STRING", "").split("&")
    kept = [part for part in parts if not part or part.find("=") != len(part) - 1]
    if len(kept) == len(parts):
        return None
    return _with_query(request.path, "&".join(kept))


def _nearby(path: str) -> Iterator[str]:
    single = re.sub(r"/{2,}", "/", path).replace("/.", ".")
    bare = single.rstrip("/")
    yield from (single, bare, f"{bare}/")
    if found := _OVERVIEW.match(bare):
        suffix = found["suffix"] or "/"
        yield f"{found['table']}{suffix}"


def _is_page(path: str) -> bool:
    try:
        return "fmt" in resolve(path).kwargs
    except Resolver404:
        return False


def _with_query(path: str, query: str) -> str:
    path = escape_leading_slashes(escape_uri_path(path))
    return f"{path}?{query}" if query else path
