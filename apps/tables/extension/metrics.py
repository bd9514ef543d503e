"""The metrics and probes of tables and their storage."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, F, Q
from django.utils import timezone

from apps.notices.kinds.table_version import NEW_VERSION
from apps.notices.models import Event
from apps.operate.metrics.gauges import Gauge, gauges
from apps.operate.probes.parts import FAILED, OFF, OK, ServerPart, parts
from apps.tables.models import Table

RECENT: Final = timedelta(hours=1)
MAX_INDEXED: Final = 5000
QUANTILES: Final = (0.5, 0.95, 1.0)


def table_gauges() -> Iterator[Gauge]:
    """Yield how many tables there are, and how far indexes are behind their logs."""
    counts = Table.objects.aggregate(
        all=Count("id"),
        behind=Count("id", filter=Q(latest_version_seen__gt=F("version"))),
        unreachable=Count("id", filter=Q(probe_failures__gt=0)),
    )
    yield Gauge(
        name="deltaweb_tables",
        help="Tables: all, behind (a newer version is not indexed yet), unreachable.",
        labels=("state",),
        values={(name,): float(number) for name, number in counts.items()},
    )
    yield Gauge(
        name="deltaweb_index_lag_seconds",
        help="From the commit of a version to its index, in the last hour.",
        labels=("quantile",),
        values={(f"{one:g}",): lag for one, lag in _lags().items()},
    )


def storage_state() -> str:
    """Return whether the storage of any table answers."""
    counts = Table.objects.exclude(probed_at=None).aggregate(
        all=Count("id"), failing=Count("id", filter=Q(probe_failures__gt=0))
    )
    if not counts["all"]:
        return OFF
    return FAILED if counts["failing"] == counts["all"] else OK


def _lags() -> dict[float, float]:
    """Return quantiles of the lag of new versions, each counted once.

    A first index and an index that is built again are left out, because the commits
    of these are older than the wish to index them. So is a log that was replaced.
    """
    events = Event.objects.filter(
        kind=NEW_VERSION.name, at__gt=timezone.now() - RECENT
    ).order_by("-at")[:MAX_INDEXED]
    lags = sorted(
        max(0.0, (event.at - datetime.fromisoformat(commit)).total_seconds())
        for event in events
        if isinstance(commit := event.payload.get("committed_at"), str)
        and not event.payload.get("log_replaced")
    )
    if not lags:
        return {}
    last = len(lags) - 1
    return {one: lags[round(one * last)] for one in QUANTILES}


gauges.register(table_gauges)
parts.register(ServerPart(name="storage", state=storage_state))
