"""The registration of every table below a folder, as a job."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils import timezone

from deltaweb.web.accounts.models import User
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import JobKind, hashed_key, to_json
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.jobs.services import enqueue
from deltaweb.web.tables.catalogue.scanning import scan_root
from deltaweb.web.tables.storage.locations import check_allowed, parse_location
from deltaweb.web.tables.storage.roots import roots_for


@dataclass(frozen=True, slots=True)
class ScanRoot:
    """The folder."""

    root: str


def request_scan(*, root: str, now: datetime, requested_by: User) -> Job:
    """Queue the registration of every table below a folder.

    Raises:
        LocationInvalidError: If the text is no path.
        LocationNotAllowedError: If the user may not register from there.
    """
    where = parse_location(root)
    check_allowed(where, roots=roots_for(requested_by))
    return enqueue(
        kind=SCAN_ROOT.name,
        title=f"Scan {where}",
        parameters=to_json(ScanRoot(where)),
        key=hashed_key("scan", str(requested_by.pk), where),
        requested_by=requested_by,
        now=now,
    )


def run_scan(job: TrackedJob, asked: ScanRoot) -> dict[str, Any]:
    """Register every table below a folder; known ones stay as they are."""
    job.step("Looking for tables")
    user = Job.objects.get(id=job.id).requested_by
    report = scan_root(root=asked.root, now=timezone.now(), created_by=user)
    return report.as_json()


SCAN_ROOT: Final = kinds.register(
    JobKind(
        name="tables.scan_root",
        words="Look for tables",
        parameters=ScanRoot,
        run=run_scan,
        is_reserved=True,
    )
)
