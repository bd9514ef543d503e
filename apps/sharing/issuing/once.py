"""Forms that are heeded once: a reload of a page must not make a second token."""

from typing import Final
from uuid import UUID, uuid4

from django.http import HttpRequest

_SESSION_KEY: Final = "sharing_once"
_KEPT: Final = 50


def new_key() -> UUID:
    """Return a key for a form that is about to be shown."""
    return uuid4()


def is_repeat(request: HttpRequest, key: UUID | None) -> bool:
    """Whether the session has sent a form of that key before; from now on it has."""
    if key is None:
        return False
    sent = list(request.session.get(_SESSION_KEY, []))
    if str(key) in sent:
        return True
    request.session[_SESSION_KEY] = [*sent, str(key)][-_KEPT:]
    return False
