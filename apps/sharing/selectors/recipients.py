"""Recipients and their tokens, found by the names that people write."""

from datetime import datetime

from django.db.models import Q

from apps.sharing.errors import NoWaitingTokenError, RecipientNotFoundError
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.names import is_storable, name_key


def find_recipient(name: str) -> Recipient:
    """Return a recipient, whatever the capitals of `name`.

    Raises:
        RecipientNotFoundError: If there is none.
    """
    if is_storable(name):
        found = Recipient.objects.filter(name_key=name_key(name)).first()
        if found is not None:
            return found
    raise RecipientNotFoundError(name=name)


def waiting_token(recipient: Recipient, *, now: datetime) -> RecipientToken:
    """Return the newest token that waits for its activation.

    Raises:
        NoWaitingTokenError: If there is none.
    """
    waiting = recipient.tokens.filter(
        Q(retires_at__isnull=True) | Q(retires_at__gt=now),
        token_sha256__isnull=True,
        revoked_at__isnull=True,
        expires_at__gt=now,
    )
    token = waiting.select_related("recipient").first()
    if token is None:
        raise NoWaitingTokenError(name=recipient.name)
    return token
