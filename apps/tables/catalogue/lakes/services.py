"""What people ask of lakes: add, change, remove, find."""

from datetime import datetime, timedelta
from typing import Final, Literal, get_args
from uuid import UUID

from django.db import transaction

from apps.accounts.selectors import user_of
from apps.news.publishing import publish
from apps.pages.actions import (
    Action,
    FieldChange,
    Stamp,
    report,
    report_changes,
)
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.tables.catalogue.names import parse_namespace
from apps.tables.errors import LakeNotFoundError
from apps.tables.models import Lake
from apps.tables.models.news import LAKES
from apps.tables.models.schedules import (
    NEVER,
    ONLY_WHEN_ASKED_S,
    SCHEDULES,
    schedule_name,
)
from apps.tables.storage.locations import check_allowed, parse_location
from apps.tables.storage.roots import roots_for

# A scan of a large lake takes minutes: it is not repeated every few seconds.
LakeSchedule = Literal["10m", "30m", "1h", "6h", "12h", "1d", "never"]
LAKE_SCHEDULES: Final[tuple[str, ...]] = get_args(LakeSchedule)


@transaction.atomic
def add_lake(
    url: str,
    *,
    namespace: str | Unchanged | None = UNCHANGED,
    schedule: str | Unchanged | None = UNCHANGED,
    stamp: Stamp,
) -> Lake:
    """Return the lake of a folder or URL, added if there is none; nothing is read.

    Args:
        url: A folder of the server, or a URL of an object store.
        namespace: Of every table; None or "" for the path below the lake.
        schedule: One of `LAKE_SCHEDULES`; None is only when asked.
        stamp: Who does it, and when: its owner is the user, if there is one.
    """
    where, owner = parse_location(url), user_of(stamp)
    check_allowed(where, roots=roots_for(owner))
    known = Lake.objects.filter(url=where).first()
    if known is not None:
        return change_lake(known, namespace=namespace, schedule=schedule, stamp=stamp)
    lake = Lake(url=where, owner=owner, created_at=stamp.at)
    lake.namespace = parse_namespace(value_of(namespace, "", removed=""))
    # Whoever adds it sees to the first scan.
    every = value_of(schedule, NEVER, removed=NEVER) or NEVER
    _set_schedule(lake, every, stamp.at)
    lake.save(force_insert=True)
    detail = {"schedule": every, "namespace": lake.namespace}
    report(lake_action("lake.add", lake, stamp=stamp, **detail))
    publish(LAKES)
    return lake


@transaction.atomic
def change_lake(
    lake: Lake,
    *,
    stamp: Stamp,
    namespace: str | Unchanged | None = UNCHANGED,
    schedule: str | Unchanged | None = UNCHANGED,
) -> Lake:
    """Change how a lake's next tables are named, and how often it is scanned."""
    old = schedule_name(lake.scan_interval_s)
    every = value_of(schedule, old, removed=NEVER) or NEVER
    wanted = parse_namespace(value_of(namespace, lake.namespace, removed=""))
    changes = (
        FieldChange("lake.schedule", old, every),
        FieldChange("lake.set_namespace", lake.namespace, wanted),
    )
    if not report_changes(lake_action("", lake, stamp=stamp), changes):
        return lake
    changed = []
    if wanted != lake.namespace:
        lake.namespace = wanted
        changed.append("namespace")
    if every != old:
        _set_schedule(lake, every, stamp.at)
        changed += ["scan_interval_s", "scan_due_at"]
    lake.save(update_fields=changed)
    publish(LAKES)
    return lake


@transaction.atomic
def remove_lake(lake: Lake, *, stamp: Stamp) -> None:
    """Remove a lake; its tables stay registered."""
    report(lake_action("lake.remove", lake, stamp=stamp))
    lake.delete()
    publish(LAKES)


def get_lake(lake_id: UUID) -> Lake:
    """Return a lake."""
    lake = Lake.objects.select_related("owner").filter(id=lake_id).first()
    if lake is None:
        raise LakeNotFoundError
    return lake


def lake_action(name: str, lake: Lake, *, stamp: Stamp, **detail: object) -> Action:
    """Return what is recorded of a lake."""
    return Action(name=name, stamp=stamp, detail={"lake": lake.url, **detail})


def _set_schedule(lake: Lake, schedule: str, now: datetime) -> None:
    lake.scan_interval_s = SCHEDULES[schedule] or ONLY_WHEN_ASKED_S
    lake.scan_due_at = now + timedelta(seconds=lake.scan_interval_s)
