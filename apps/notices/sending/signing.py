"""The secrets of webhooks, and the headers that prove who sends an event.

Source: https://github.com/standard-webhooks/standard-webhooks, version 1.0.0.
"""

import base64
import secrets
from datetime import UTC, datetime
from typing import Final

from django.utils.crypto import salted_hmac
from standardwebhooks.webhooks import Webhook as Signer

from apps.notices.models import Webhook

MARK: Final = "whsec_"
_SALT: Final = "deltaweb.notices.webhook"


def new_salt() -> str:
    """Return the salt of a new secret."""
    return secrets.token_hex(16)


def secret_of(webhook: Webhook) -> str:
    """Return the secret of a webhook: it is made of its salt, and not stored."""
    text = f"{webhook.pk}:{webhook.salt}"
    key = salted_hmac(_SALT, text, algorithm="sha256").digest()
    return MARK + base64.b64encode(key).decode()


def signed_headers(
    secret: str | bytes, message_id: str, body: bytes, *, now: datetime
) -> dict[str, str]:
    """Return the headers of a message.

    Args:
        secret: As libraries of the standard take it: base64 after `whsec_`, or bytes.
    """
    signature = Signer(secret).sign(message_id, now.astimezone(UTC), body.decode())
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": signature,
    }
