"""What people ask of lakes: add, change, remove, find."""

from dataclasses import dataclass
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
from apps.pages.changes.parameters import Line, parameter
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
from apps.tables.storage.finding import check_reached
from apps.tables.storage.locations import parse_location
from apps.tables.storage.roots import check_scanned

# A scan of a large lake takes minutes: it is not repeated every few seconds.
LakeSchedule = Literal["10m", "30m", "1h", "6h", "12h", "1d", "never"]
LAKE_SCHEDULES: Final[tuple[str, ...]] = get_args(LakeSchedule)


@dataclass(frozen=True, slots=True, kw_only=True)
class LakeRule:
    """How the next tables of a lake are named, and how often it is scanned.

    What is left out stays.

    Attributes:
        namespace: The namespace of every table; empty or null for the path below the
            lake.
        schedule: How often the lake is scanned; null for `never`, which scans only on
            request.
    """

    namespace: str | Unchanged | None = parameter(
        UNCHANGED,
        "--namespace",
        metavar="NS",
        line=Line(label="Namespace", most=200, codes=("table-name-invalid",)),
        help="namespace of new tables; default: unchanged, or the path below ROOT",
    )
    schedule: LakeSchedule | Unchanged | None = parameter(
        UNCHANGED,
        "--repeat",
        choices=LAKE_SCHEDULES,
        metavar="INTERVAL",
        line=Line(label="Scanned", wrong="Choose one of the listed schedules."),
        help=f"how often to scan it: {', '.join(LAKE_SCHEDULES)}; "
        "default: unchanged, or never",
    )

    def after(self, lake: Lake) -> tuple[str, str]:
        """Return the namespace and the schedule of a lake that gets this rule."""
        namespace = value_of(self.namespace, lake.namespace, removed="")
        known = schedule_name(lake.scan_interval_s)
        every = value_of(self.schedule, known, removed=NEVER) or NEVER
        return parse_namespace(namespace), every


AS_BEFORE: Final = LakeRule()


@transaction.atomic
def add_lake(url: str, rule: LakeRule = AS_BEFORE, *, stamp: Stamp) -> Lake:
    """Return the lake of a folder or URL, added if there is none; nothing is read.

    Args:
        url: A folder of the server, or a URL of an object store.
        rule: A new lake without one has the path below it, and is scanned on request.
        stamp: Who does it, and when: its owner is the user, if there is one.
    """
    where, owner = parse_location(url), user_of(stamp)
    check_scanned(where, owner)
    known = Lake.objects.filter(url=where).first()
    if known is not None:
        return change_lake(known, rule, stamp=stamp)
    lake = Lake(url=where, owner=owner, created_at=stamp.at)
    lake.namespace, every = rule.after(lake)
    # Whoever adds it sees to the first scan.
    _set_schedule(lake, every, stamp.at)
    lake.save(force_insert=True)
    detail = {"schedule": every, "namespace": lake.namespace}
    report(lake_action("lake.add", lake, stamp=stamp, **detail))
    publish(LAKES)
    return lake


def add_reached_lake(url: str, rule: LakeRule = AS_BEFORE, *, stamp: Stamp) -> Lake:
    """Return the lake of a folder or URL; a new one is added only if it can be listed.

    Args:
        url: As `add_lake` takes it; so are the others.

    Raises:
        DeltaError: If a new lake cannot be reached.
    """
    where = parse_location(url)
    if not Lake.objects.filter(url=where).exists():
        check_scanned(where, user_of(stamp))
        check_reached(where)
    return add_lake(where, rule, stamp=stamp)


@transaction.atomic
def change_lake(lake: Lake, rule: LakeRule, *, stamp: Stamp) -> Lake:
    """Change how a lake's next tables are named, and how often it is scanned."""
    old = schedule_name(lake.scan_interval_s)
    wanted, every = rule.after(lake)
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


def _set_schedule(lake: Lake, every: str, now: datetime) -> None:
    lake.scan_interval_s = SCHEDULES[every] or ONLY_WHEN_ASKED_S
    lake.scan_due_at = now + timedelta(seconds=lake.scan_interval_s)
