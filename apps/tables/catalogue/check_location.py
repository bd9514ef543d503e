"""A look at a location, as a job, before a table is registered there."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from deltaweb.web.accounts.models import User
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import JobKind, hashed_key, to_json
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.jobs.services import enqueue
from deltaweb.web.tables.catalogue.checks import check_location
from deltaweb.web.tables.storage.locations import check_allowed, parse_location
from deltaweb.web.tables.storage.roots import roots_for


@dataclass(frozen=True, slots=True)
class CheckLocation:
    """Where the job looks."""

    location: str


def request_check(*, location: str, now: datetime, requested_by: User) -> Job:
    """Queue a look at a location before it is registered."""
    where = parse_location(location)
    check_allowed(where, roots=roots_for(requested_by))
    return enqueue(
        kind=CHECK_LOCATION.name,
        title=f"Check {where}",
        parameters=to_json(CheckLocation(where)),
        key=hashed_key("check", str(requested_by.pk), where),
        requested_by=requested_by,
        now=now,
    )


def run_check(job: TrackedJob, asked: CheckLocation) -> dict[str, Any]:
    """Say what is at a location."""
    return check_location(asked.location, on_step=job.step).as_json()


CHECK_LOCATION: Final = kinds.register(
    JobKind(
        name="tables.check_location",
        words="Check a location",
        parameters=CheckLocation,
        run=run_check,
        is_reserved=True,
        is_look=True,
    )
)
