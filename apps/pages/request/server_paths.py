"""Paths of the server, which are for those who change tables: viewers see none.

A page says where a table lies, and errors name files by their whole path. Those who
only read are told the last part of each; what disk the server has is not theirs to
know. Addresses of object stores stay: a reader of such a store needs them.
"""

import re
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Final, TypeVar

from django.http import HttpRequest, HttpResponseBase

T = TypeVar("T")
GetResponse = Callable[[HttpRequest], HttpResponseBase]
CUT: Final = "\N{HORIZONTAL ELLIPSIS}/"
_PLACE: Final = re.compile(
    r"(?<![\w./:-])(?:[a-z][a-z0-9+.-]*://|/)(?:[^\s'\"]*/)?(?P<name>[^\s/'\"]+)"
)
# While a request is answered, and what is streamed afterwards by `for_reader`.
_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def remember_reader(get_response: GetResponse) -> GetResponse:
    """Know who reads what is said while a request is answered."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        before = _request.set(request)
        try:
            return get_response(request)
        finally:
            _request.reset(before)

    return middleware


def sees_server_paths() -> bool:
    """Whether who asks may know where files of the server lie; commands may."""
    request = _request.get()
    if request is None:
        return True
    return bool(getattr(request.user, "is_editor", False))


def for_reader(rows: Iterator[T]) -> Iterator[T]:
    """Return what is streamed once a request is answered as its reader may see it."""
    return _read_by(_request.get(), rows)


def _read_by(request: HttpRequest | None, rows: Iterator[T]) -> Iterator[T]:
    while True:
        before = _request.set(request)
        try:
            row = next(rows)
        except StopIteration:
            return
        finally:
            _request.reset(before)
        yield row


def place_for_reader(location: str) -> str:
    """Return where a table lies, of a local path the last part if need be."""
    return location if sees_server_paths() else cut_place(location)


def cut_place(location: str) -> str:
    """Return where a table lies as all may know it."""
    return location if "://" in location else f"{CUT}{last_part(location)}"


def place_for_code(location: str) -> str:
    """Return the same for code that a reader completes."""
    if "://" in location or sees_server_paths():
        return location
    return f"/path/to/{last_part(location)}"


def text_for_reader(text: str, place: str = "", label: str = "") -> str:
    """Return what went wrong, with names of files instead of paths if need be.

    Args:
        place: Where that of which it is said lies; may hold spaces.
        label: What that is called; the last part of its place if that is not said.
    """
    if sees_server_paths():
        return text
    return without_places(text, place, label or last_part(place))


def without_places(text: str, place: str = "", label: str = "") -> str:
    """Name files by their last part, and a thing's place by its label."""
    if place:
        inside = re.compile(
            re.escape(place.rstrip("/")) + r"(?:/(?P<name>[^\s'\"]*))?(?![\w-])"
        )
        text = inside.sub(lambda found: last_part(found["name"] or "") or label, text)
    return _PLACE.sub(lambda found: found["name"], text)


def last_part(path: str) -> str:
    """Return the last part of a path."""
    return path.rstrip("/").rpartition("/")[2]
