"""The scan of a lake as a job: when somebody asks, and when it is due."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.selectors import user_of
from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.pages.actions import Stamp
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.catalogue.lakes.services import (
    AS_BEFORE,
    LakeRule,
    add_lake,
    add_reached_lake,
)
from apps.tables.catalogue.registration import stamp_for
from apps.tables.catalogue.scanning import ScanResult
from apps.tables.models import Lake
from apps.tables.models.schedules import ONLY_WHEN_ASKED_S
from apps.tables.storage.received import is_received, rests_until

MOST_SHOWN: Final = 10  # scans on a page


@dataclass(frozen=True, slots=True)
class ScanRoot:
    """The folder or URL of the lake."""

    root: str


def request_scan(root: str, rule: LakeRule = AS_BEFORE, *, stamp: Stamp) -> Job:
    """Queue a scan of a lake; a scan that waits already is returned.

    Raises:
        DeltaError: If it is a new lake that cannot be reached. It is not added.
    """
    lake = add_reached_lake(root, rule, stamp=stamp)
    return _enqueue_scan(lake, requested_by=user_of(stamp), now=stamp.at)


def scan_key(lake: Lake) -> str:
    """Name the scan of a lake, whoever asks for it."""
    return hashed_key("scan", lake.url)


def newest_scan(lake: Lake) -> Job | None:
    """Return the newest job that scans or scanned a lake."""
    jobs = Job.objects.filter(key=scan_key(lake)).order_by("-created_at")
    return jobs.defer("log", "error_detail").first()


def running_scans() -> list[Job]:
    """Return the scans that wait or run, without those of received shares."""
    jobs = Job.objects.active().filter(kind=SCAN_ROOT.name).order_by("created_at")
    found = jobs.defer("log", "error_detail")[:MOST_SHOWN]
    return [one for one in found if not is_received(SCAN_ROOT.asked(one).root)]


def request_due_scans(*, now: datetime) -> int:
    """Queue a scan of every lake that is due; return how many."""
    scheduled = Lake.objects.exclude(scan_interval_s=ONLY_WHEN_ASKED_S)
    due = list(scheduled.filter(scan_due_at__lte=now).select_related("owner"))
    due = [lake for lake in due if not _rests(lake, now)]
    for lake in due:
        _enqueue_scan(lake, requested_by=None, now=now)
    return len(due)


def _rests(lake: Lake, now: datetime) -> bool:
    return is_received(lake.url) and rests_until(lake.url, now=now) is not None


def _enqueue_scan(lake: Lake, *, requested_by: User | None, now: datetime) -> Job:
    return enqueue(
        kind=SCAN_ROOT.name,
        title=f"Scan {lake.url}",
        parameters=to_json(ScanRoot(lake.url)),
        key=scan_key(lake),
        requested_by=requested_by,
        now=now,
    )


def run_scan(job: TrackedJob, asked: ScanRoot) -> ScanResult:
    """Register every table of a lake; known ones stay as they are."""
    user = Job.objects.get(id=job.id).requested_by
    stamp = stamp_for(user, timezone.now())
    lake = add_lake(asked.root, stamp=stamp)
    steps: set[str] = set()

    def tell(step: str, done: int, total: int | None, unit: str) -> None:
        if step not in steps:
            steps.add(step)
            job.step(step)
        job.progress(done, total=total, unit=unit)

    done = scan_lake(
        lake,
        asked_by=user,
        stamp=stamp_for(user or lake.owner, timezone.now()),
        is_asked=user is not None,
        on_progress=tell,
    )
    return done.without_private().shown()


SCAN_ROOT: Final = kinds.register(
    JobKind(
        name="tables.scan_root",
        words="Look for tables",
        parameters=ScanRoot,
        result=ScanResult,
        run=run_scan,
        is_reserved=True,
        is_aside=lambda parameters: is_received(str(parameters.get("root", ""))),
    )
)
