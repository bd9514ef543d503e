"""The events and mails that a restored backup sends again."""

from datetime import datetime

from django.db.models import QuerySet

from apps.notices.models import Delivery, Notice, Webhook
from apps.operate.models import Restoration
from apps.operate.restored.revivals import (
    Revival,
    Withdrawal,
    revivals,
    text_of,
    withdrawals,
)
from apps.operate.switches.state import NOTIFICATIONS
from deltaweb.words import counted


def _deliveries(before: datetime) -> QuerySet[Delivery]:
    return Delivery.objects.waiting().filter(created_at__lte=before)


def _look_at_deliveries(before: datetime, _: datetime) -> tuple[int, str]:
    waiting = _deliveries(before)
    count, webhooks = waiting.count(), waiting.values("webhook").distinct().count()
    return count, (
        f"{counted(count, 'waiting event')} will be sent to"
        f" {counted(webhooks, 'webhook')}, also if the former server sent it after the"
        " backup."
    )


def _drop_deliveries(before: datetime, _: datetime) -> int:
    return _deliveries(before).update(state=Delivery.State.DROPPED)


def _mails(before: datetime) -> QuerySet[Notice]:
    return Notice.objects.filter(mail_due_at__isnull=False, created_at__lte=before)


def _look_at_mails(before: datetime, _: datetime) -> tuple[int, str]:
    due = _mails(before)
    count, people = due.count(), due.values("user").distinct().count()
    return count, (
        f"{counted(count, 'notification')} will be mailed to"
        f" {counted(people, 'account')}, also if the former server mailed it after the"
        " backup."
    )


def _drop_mails(before: datetime, _: datetime) -> int:
    return _mails(before).update(mail_due_at=None)


def _look_at_webhooks(before: datetime, _: datetime) -> tuple[int, str]:
    restoration = Restoration.objects.first()
    if restoration is None or not restoration.decisions.get("has_other_key"):
        return 0, ""
    count = Webhook.objects.filter(created_at__lte=before).count()
    return count, (
        f"The signatures of {counted(count, 'webhook')} are wrong for the receivers,"
        " because this server has another secret key than the backup. Make a new secret"
        " for each and give it to its receiver, or start with the former key."
    )


revivals.register(
    Revival(name="webhooks", switch=NOTIFICATIONS, look=_look_at_webhooks),
    Revival(
        name="deliveries",
        switch=NOTIFICATIONS,
        look=_look_at_deliveries,
        revoke=_drop_deliveries,
    ),
    Revival(
        name="mails", switch=NOTIFICATIONS, look=_look_at_mails, revoke=_drop_mails
    ),
)
withdrawals.register(
    Withdrawal(
        action="webhook.remove",
        says=lambda line: (
            f"Webhook of {text_of(line, 'user')} to {text_of(line, 'host')}"
        ),
        is_back=lambda line, _: Webhook.objects.filter(
            user__username=text_of(line, "user"), host=text_of(line, "host")
        ).exists(),
    )
)
