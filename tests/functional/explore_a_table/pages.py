"""Pages of a table as tests ask for them, and the work that they wait for."""

from apps.jobs.models import Job
from apps.tables.work.count_rows import COUNT
from apps.tables.work.preview import PREVIEW
from apps.tables.work.version_files import VERSION_FILES

TABLE = "/t/default/"
PAGES = ["", "data", "schema", "history", "files"]
HTMX = {"HX-Request": "true"}
RUN = {
    "tables.count_rows": COUNT.work,
    "tables.preview_rows": PREVIEW.work,
    "tables.list_version_files": VERSION_FILES.work,
}


def work() -> None:
    """Do what waits, as a worker does."""
    for job in Job.objects.filter(state=Job.State.QUEUED):
        RUN[job.kind](job_id=str(job.id))
