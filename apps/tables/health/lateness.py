"""Tables without a new version within the limit of their namespace, as events."""

import math
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F, Q

from apps.notices.events import EventSubject, Happening, emit_all
from apps.notices.kinds.table_late import TABLE_LATE, LateTable
from apps.notices.models import Event
from apps.tables.models import NamespaceThresholds, Table

LOOK_INTERVAL_S: Final = 60.0
THRESHOLD: Final = "late_minutes"
BATCH: Final = 500
_looked_at = {"monotonic_s": -math.inf}


def report_late(now: datetime) -> None:
    """Report late tables, once a minute."""
    if time.monotonic() - _looked_at["monotonic_s"] < LOOK_INTERVAL_S:
        return
    _looked_at["monotonic_s"] = time.monotonic()
    report_late_tables(now)


def report_late_tables(now: datetime) -> None:
    """Report each table once for the version that is not followed in time."""
    for limits in NamespaceThresholds.objects.all():
        minutes = limits.values.get(THRESHOLD)
        if isinstance(minutes, int) and minutes > 0:
            limit = timedelta(minutes=minutes)
            _report([*_late(limits.namespace, limit, now)], now)


def _late(namespace: str, limit: timedelta, now: datetime) -> Iterator[Happening]:
    is_current = Q(latest_version_seen=None) | Q(latest_version_seen__lte=F("version"))
    tables = Table.objects.filter(
        is_current,
        namespace=namespace,
        committed_at__lt=now - limit,
        version__isnull=False,
        vanished_at=None,
    )
    for table in tables.defer("summary"):
        if table.version is None or table.committed_at is None:
            continue
        yield Happening(
            kind=TABLE_LATE,
            subject=EventSubject("table", str(table.id), table.full_name),
            data=LateTable(
                table=table.full_name,
                version=table.version,
                committed_at=table.committed_at.isoformat(),
                limit_s=int(limit.total_seconds()),
            ),
            table_id=table.id,
            key=f"{table.id}:{table.version}:{table.committed_at.timestamp()}",
        )


def _report(found: list[Happening], now: datetime) -> None:
    for start in range(0, len(found), BATCH):
        some = found[start : start + BATCH]
        keys = [f"{one.kind.name}:{one.key}" for one in some]
        known = set(Event.objects.filter(key__in=keys).values_list("key", flat=True))
        new = [one for one, key in zip(some, keys, strict=True) if key not in known]
        with transaction.atomic():
            emit_all(new, now=now)
