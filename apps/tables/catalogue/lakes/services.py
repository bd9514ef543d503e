"""What people ask of lakes: add, change, remove, find."""

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction

from deltaweb.web.accounts.models import User
from deltaweb.web.news.publishing import publish
from deltaweb.web.pages.actions import (
    Action,
    FieldChange,
    Stamp,
    report,
    report_changes,
)
from deltaweb.web.tables.catalogue.names import parse_namespace
from deltaweb.web.tables.errors import LakeNotFoundError
from deltaweb.web.tables.models import Lake
from deltaweb.web.tables.models.news import LAKES
from deltaweb.web.tables.models.schedules import (
    NEVER,
    ONLY_WHEN_ASKED_S,
    SCHEDULES,
    schedule_name,
)
from deltaweb.web.tables.storage.locations import check_allowed, parse_location
from deltaweb.web.tables.storage.roots import roots_for

# A scan of a large lake takes minutes: it is not repeated every few seconds.
LAKE_SCHEDULES: Final = ("10m", "30m", "1h", "6h", "12h", "1d", NEVER)


@transaction.atomic
def add_lake(
    url: str,
    *,
    namespace: str | None = None,
    schedule: str | None = None,
    owner: User | None = None,
    stamp: Stamp,
) -> Lake:
    """Return the lake of a folder or URL, added if there is none; nothing is read.

    Args:
        namespace: Of every table, "" for the path below it; None is as it was, or "".
        schedule: One of `LAKE_SCHEDULES`; None is as it was, or only when asked.
        owner: Who adds it; None for the command line.
    """
    where = parse_location(url)
    check_allowed(where, roots=roots_for(owner))
    known = Lake.objects.filter(url=where).first()
    if known is not None:
        return change_lake(known, namespace=namespace, schedule=schedule, stamp=stamp)
    lake = Lake(url=where, owner=owner, created_at=stamp.at)
    lake.namespace = parse_namespace(namespace or "")
    # Whoever adds it sees to the first scan.
    _set_schedule(lake, schedule or NEVER, stamp.at)
    lake.save(force_insert=True)
    detail = {"schedule": schedule or NEVER, "namespace": lake.namespace}
    report(lake_action("lake.add", lake, stamp=stamp, **detail))
    publish(LAKES)
    return lake


@transaction.atomic
def change_lake(
    lake: Lake,
    *,
    stamp: Stamp,
    namespace: str | None = None,
    schedule: str | None = None,
) -> Lake:
    """Change how a lake's next tables are named, and how often it is scanned.

    None leaves either as it is.
    """
    old = schedule_name(lake.scan_interval_s)
    wanted = lake.namespace if namespace is None else parse_namespace(namespace)
    changes = (
        FieldChange("lake.schedule", old, schedule or old),
        FieldChange("lake.set_namespace", lake.namespace, wanted),
    )
    if report_changes(lake_action("", lake, stamp=stamp), changes):
        lake.namespace = wanted
        _set_schedule(lake, schedule or old, stamp.at)
        lake.save(update_fields=["namespace", "scan_interval_s", "scan_due_at"])
        publish(LAKES)
    return lake


@transaction.atomic
def remove_lake(lake: Lake, *, stamp: Stamp) -> None:
    """Scan a lake no more; its tables stay registered."""
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
