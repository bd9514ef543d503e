"""Forms that take effect once: a reload of a page must not make a second token."""

from contextlib import suppress
from typing import Final
from uuid import UUID, uuid4

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

FIELD: Final = "once"
"""The hidden field of the key."""
_SENT: Final = "sent_once"
_KEPT: Final = 50


def new_key() -> UUID:
    """Return a key for a form that is about to be shown."""
    return uuid4()


def is_repeat(request: HttpRequest) -> bool:
    """Return whether the session has sent the form of a key before.

    From now on it has. Of two requests at once, the later one waits for the row of the
    session and finds the key of the earlier one, which is why the key is stored here
    and not with the response.
    """
    key = None
    with suppress(ValueError):
        key = UUID(request.POST.get(FIELD, ""))
    if key is None:
        return False
    session = request.session
    with transaction.atomic():
        rows = Session.objects.select_for_update()
        stored = rows.filter(session_key=session.session_key).first()
        sent = list((stored.get_decoded() if stored else session).get(_SENT, []))
        session[_SENT] = sent
        if str(key) in sent:
            return True
        session[_SENT] = [*sent, str(key)][-_KEPT:]
        if stored:
            session.save()
    return False
