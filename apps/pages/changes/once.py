"""Forms that are heeded once: a reload of a page must not make a second token."""

from contextlib import suppress
from typing import Final
from uuid import UUID, uuid4

from django.http import HttpRequest

FIELD: Final = "once"
"""The hidden field of the key."""
_SESSION_KEY: Final = "sent_once"
_KEPT: Final = 50


def new_key() -> UUID:
    """Return a key for a form that is about to be shown."""
    return uuid4()


def is_repeat(request: HttpRequest) -> bool:
    """Whether the session has sent the form of a key before; from now on it has."""
    key = None
    with suppress(ValueError):
        key = UUID(request.POST.get(FIELD, ""))
    if key is None:
        return False
    sent = list(request.session.get(_SESSION_KEY, []))
    if str(key) in sent:
        return True
    request.session[_SESSION_KEY] = [*sent, str(key)][-_KEPT:]
    return False
