"""Paused webhooks as events, for their owners."""

from datetime import datetime

from apps.notices.events import EventSubject, emit
from apps.notices.kinds.webhook_paused import WEBHOOK_PAUSED, PausedWebhook
from apps.notices.models import Webhook


def report_pause(webhook: Webhook, reason: str, now: datetime) -> None:
    """Report a webhook that has just been paused, in the transaction that does it."""
    emit(
        WEBHOOK_PAUSED,
        EventSubject("webhook", str(webhook.pk), webhook.host),
        PausedWebhook(
            webhook=str(webhook.pk),
            host=webhook.host,
            reason=reason,
            num_waiting=webhook.deliveries.waiting().count(),
        ),
        now=now,
    )
