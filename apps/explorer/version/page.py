"""What every page over a table has."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from deltaweb.web.explorer.version.table_version import TableVersion
from deltaweb.web.jobs.listing.resource import PageJob
from deltaweb.web.jobs.listing.selectors import page_jobs
from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.page_json import As, OnPage, Spread
from deltaweb.web.tables.head.drawn_head import DrawnHead
from deltaweb.web.tables.head.table_head import TableHead
from deltaweb.web.tables.models import Table


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
