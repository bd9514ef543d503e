"""The sample tables, made and registered by a job."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, NoParameters
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.tables.catalogue.registration import stamp_for
from apps.tables.catalogue.scanning import load_samples


def request_samples(*, now: datetime, requested_by: User) -> Job:
    """Queue the making of the sample tables; a queued or running one is returned."""
    return enqueue(
        kind=SAMPLES.name,
        title="Load the sample tables",
        key="samples",
        requested_by=requested_by,
        now=now,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplesLoaded:
    """The names of the sample tables."""

    tables: tuple[str, ...]


def make_and_register(job: TrackedJob, _: NoParameters) -> SamplesLoaded:
    """Create and register the sample tables that are missing."""
    user = Job.objects.get(id=job.id).requested_by

    def on_table(name: str, done: int, total: int) -> None:
        job.step(f"Making {name}", done=done, total=total, unit="tables")

    tables = load_samples(
        created_by=user,
        stamp=stamp_for(user, timezone.now()),
        on_table=on_table,
    )
    job.progress(len(tables), total=len(tables), unit="tables")
    return SamplesLoaded(tables=tuple(table.full_name for table in tables))


SAMPLES: Final = kinds.register(
    JobKind(
        name="tables.load_samples",
        words="Load the sample tables",
        parameters=NoParameters,
        result=SamplesLoaded,
        run=make_and_register,
        is_reserved=True,
        page=lambda _job: reverse("tables:table-list"),
    )
)
