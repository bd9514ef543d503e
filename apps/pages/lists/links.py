"""Links to the same page with another query: filters as chips, pages, sorting."""

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from django.http import HttpRequest
from django.urls import get_script_prefix

PAGING = ("page", "before", "count")  # what belongs to one filter
_KEPT = "!$&'()*+,;=~:@"  # unquoted by RFC 3986, and by Django's `reverse`


def address_of(*parts: str) -> str:
    """Return the address of a page by the parts of its path, as `reverse` writes it.

    Which pages there are is not loaded for it: a command that lists tables needs none.
    """
    path = "/".join(quote(part, safe=_KEPT) for part in parts)
    return f"{get_script_prefix()}{path}/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A filter that is set; its link is the page without it."""

    text: str
    url: str


def changed(request: HttpRequest, **values: object) -> str:
    """Return the page's address with other values, or lists of them; None drops one."""
    # Not `QueryDict.copy`, which copies deeply: a page has hundreds of such links.
    query = dict(request.GET.lists())
    for name, value in values.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value if isinstance(value, list) else [str(value)]
    return address_with(request, urlencode(query, doseq=True))


def without(request: HttpRequest, name: str, value: str | None = None) -> str:
    """Return the page's address without a filter, on its first page.

    Args:
        value: One of its values; None drops them all.
    """
    query = request.GET.copy()
    kept = [] if value is None else [v for v in query.getlist(name) if v != value]
    query.setlist(name, kept)
    for paging in PAGING:
        query.pop(paging, None)
    return address_with(request, query.urlencode())


def only(request: HttpRequest, name: str, values: list[str]) -> str:
    """Return the page's address with a filter set to these values, on page one."""
    query = request.GET.copy()
    query.setlist(name, values)
    for paging in PAGING:
        query.pop(paging, None)
    return address_with(request, query.urlencode())


def machine_form(request: HttpRequest, suffix: str) -> str:
    """Return the address of the page's `json` or `csv` form, same filters."""
    path = _path(request).rstrip("/")
    query = request.GET.urlencode()
    return f"{path}.{suffix}?{query}" if query else f"{path}.{suffix}"


def address_with(request: HttpRequest, query: str) -> str:
    """Return the page's address with a query, which may be nothing."""
    path = _path(request)
    return f"{path}?{query}" if query else path


def _path(request: HttpRequest) -> str:
    """Return the path as it was sent: a name in it may hold `?`, `#` or `%2F`."""
    return quote(request.path, safe=f"/{_KEPT}")
