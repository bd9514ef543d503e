"""Where tokens of acme are made, and what a test finds of them."""

import re
from datetime import timedelta

from django.utils import timezone

from apps.sharing.models import Recipient, RecipientToken
from tests.support.pages.factories import new_token

DAY = timedelta(days=1)
NEW = "/recipients/acme/tokens/new"
ROTATE = "/recipients/acme/tokens/rotate"


def nonce_in(text: str) -> str:
    """The secret part of the link that a page shows."""
    found = re.search(r"/activate/([\w-]{43})\b", text)
    assert found is not None
    return found[1]


def waiting(acme: Recipient) -> RecipientToken:
    """A token that nobody has activated."""
    now = timezone.now()
    return new_token(
        acme, token_sha256=None, activated_at=None, expires_at=now + 30 * DAY
    )[0]
