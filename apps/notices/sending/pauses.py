"""The pause of a webhook, and what follows it in one transaction."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from django.db import transaction

from apps.notices.models import Webhook
from apps.pages.registry import Registry

# Called with a webhook that has just been paused, and the reason; it does not raise.
followers: Final[Registry[Callable[[Webhook, str, datetime], None]]] = Registry()


def pause(webhook: Webhook, reason: str, now: datetime) -> None:
    """Pause a webhook until it is resumed, and call the followers; once for a pause."""
    active = Webhook.objects.filter(id=webhook.pk, paused_at=None)
    with transaction.atomic():
        if active.update(paused_at=now, pause_reason=reason):
            for follow in followers:
                follow(webhook, reason, now)
