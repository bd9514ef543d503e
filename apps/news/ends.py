"""The latest end of a connection that waits for news."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from django.http import HttpRequest

from apps.pages.registry import Registry

ends: Final[Registry[Callable[[HttpRequest], datetime | None]]] = Registry()
"""Each returns when a request loses its rights; None for never."""


def end_of(request: HttpRequest) -> datetime | None:
    """Return the first of all ends; None for none."""
    return min((end for of in ends if (end := of(request)) is not None), default=None)
