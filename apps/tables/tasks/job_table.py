"""The table that a job is about."""

from apps.jobs.tracking import TrackedJob
from apps.tables.errors import TableNotRegisteredError
from apps.tables.models import Table


def table_of(job: TrackedJob) -> Table:
    """Return the table of a job.

    Raises:
        TableNotRegisteredError: If it was removed.
    """
    table = Table.objects.filter(id=job.parameters["table_id"]).first()
    if table is None:
        raise TableNotRegisteredError(name=job.title)
    return table
