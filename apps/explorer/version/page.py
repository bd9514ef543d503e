"""What every page over a table has, and what it answers for its job."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from apps.explorer.version.table_version import TableVersion
from apps.jobs.listing.resource import PageJob
from apps.jobs.listing.selectors import page_jobs
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.page_json import As, OnPage, Spread
from apps.tables.head.drawn_head import DrawnHead
from apps.tables.head.table_head import TableHead
from apps.tables.models import Table


def still(doing: str, said: str, job: Job) -> PageError:
    """Return why a machine form has nothing yet: a job is at it."""
    hint = f"Ask again when job {job.id} is done."
    return PageError(status=409, code=f"still-{doing}", message=said, hint=hint)


def page_job(job: Job) -> PageJob:
    """Return a job as the JSON form of the page that waits for it shows it."""
    return page_jobs([job])[0]


JobOfPage: TypeAlias = Annotated[Job | None, As(page_job)]


@dataclass(frozen=True, kw_only=True)
class TablePage:
    """A page over a table at a version; its fields are its JSON form."""

    at: Spread[TableVersion]
    drawn_head: OnPage[DrawnHead | None] = None

    @property
    def head(self) -> TableHead:
        return self.at.head

    @property
    def table(self) -> Table:
        return self.at.table
