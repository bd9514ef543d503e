"""What every page over a table has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from deltaweb.web.explorer.version.table_version import TableVersion
from deltaweb.web.jobs.models import Job
from deltaweb.web.pages.page_json import As, Spread
from deltaweb.web.pages.request.server_paths import text_for_reader
from deltaweb.web.tables.head.table_head import TableHead
from deltaweb.web.tables.models import Table


def job_facts(job: Job) -> Mapping[str, object]:
    """Return a job as the JSON form of the page that waits for it shows it."""
    return {
        "id": job.id,
        "state": job.state,
        "error": text_for_reader(job.error) or None,
    }


JobOfPage: TypeAlias = Annotated[Job | None, As(job_facts)]


@dataclass(frozen=True, kw_only=True)
class TablePage:
    """A page over a table at a version; its fields are its JSON form."""

    at: Spread[TableVersion]

    @property
    def head(self) -> TableHead:
        """The head of the page."""
        return self.at.head

    @property
    def table(self) -> Table:
        """The table."""
        return self.at.table
