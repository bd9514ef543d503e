"""Events about recipients: the first read of a table, and limits that are reached."""

import math
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q

from apps.notices.events import EventSubject, Happening, emit, emit_all
from apps.notices.kinds.recipient_budget import BUDGET_REACHED, BudgetReached
from apps.notices.kinds.recipient_first_read import FIRST_READ, FirstRead
from apps.notices.models import Event
from apps.sharing.activity.budgets import first_of_month, midnight
from apps.sharing.activity.usage import FIRST_FAILED_STATUS, calls, sum_of_sizes
from apps.sharing.models import LastRead, Recipient

BUDGETS_INTERVAL_S: Final = 300.0
_looked_at = {"monotonic_s": -math.inf}


def report_first_read(read: LastRead) -> None:
    """Report a read if the recipient has not read that table before.

    Call it in the transaction that notes the read, before that is noted.
    """
    recipient, shared = read.token.recipient, read.shared_table
    before = LastRead.objects.filter(
        shared_table=shared, token__recipient_id=recipient.id
    )
    if before.exists():
        return
    emit(
        FIRST_READ,
        _subject(recipient),
        FirstRead(
            recipient=recipient.name,
            share=shared.share.name,
            table=f"{shared.schema}.{shared.name}",
            version=read.version,
        ),
        now=read.read_at,
        table_id=shared.table_id,
        also=[EventSubject("share", str(shared.share_id), shared.share.name)],
        key=f"{recipient.id}:{shared.id}",
    )


def report_budgets(now: datetime) -> None:
    """Report limits that were reached this month, every few minutes."""
    if time.monotonic() - _looked_at["monotonic_s"] < BUDGETS_INTERVAL_S:
        return
    _looked_at["monotonic_s"] = time.monotonic()
    report_reached_limits(now)


def report_reached_limits(now: datetime) -> None:
    """Report each limit that was reached this month once."""
    found = list(_reached(now))
    keys = [f"{one.kind.name}:{one.key}" for one in found]
    known = set(Event.objects.filter(key__in=keys).values_list("key", flat=True))
    new = [one for one, key in zip(found, keys, strict=True) if key not in known]
    with transaction.atomic():
        emit_all(new, now=now)


def _reached(now: datetime) -> Iterator[Happening]:
    month = first_of_month(now)
    has_limit = Q(soft_limit_bytes__isnull=False) | Q(hard_limit_bytes__isnull=False)
    limited = {one.id: one for one in Recipient.objects.filter(has_limit)}
    if not limited:
        return
    offered = calls().filter(
        recipient_id__in=limited,
        at__gte=midnight(month),
        status__lt=FIRST_FAILED_STATUS,
    )
    sizes = offered.order_by().values_list("recipient_id").annotate(size=sum_of_sizes())
    for recipient_id, size in sizes:
        recipient = limited[recipient_id]
        for word, limit_bytes in (
            ("soft", recipient.soft_limit_bytes),
            ("hard", recipient.hard_limit_bytes),
        ):
            if limit_bytes is None or int(size or 0) < limit_bytes:
                continue
            yield Happening(
                kind=BUDGET_REACHED,
                subject=_subject(recipient),
                data=BudgetReached(
                    recipient=recipient.name,
                    month=f"{month:%Y-%m}",
                    limit=word,
                    limit_bytes=limit_bytes,
                    offered_bytes=int(size),
                ),
                key=f"{recipient.id}:{month:%Y%m}:{word}:{limit_bytes}",
            )


def _subject(recipient: Recipient) -> EventSubject:
    return EventSubject("recipient", str(recipient.id), recipient.name)
