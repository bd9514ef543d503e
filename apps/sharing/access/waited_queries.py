"""The queries that recipients wait for, which end with their grants."""

from datetime import datetime
from typing import Final

from apps.jobs.models import Job
from apps.jobs.services import cancel
from apps.sharing.models import Recipient, Share

ANSWER_QUERY: Final = "sharing.answer_query"
"""The name of the jobs that answer them."""
READ_ROWS: Final = "sharing.read_rows"
"""The name of the jobs that read rows for the page of a recipient."""


def cancel_queries(
    recipient: Recipient, share: Share | None = None, *, now: datetime
) -> None:
    """Cancel the queries that a recipient waits for, those of all shares for None."""
    waited_for = Job.objects.active().filter(
        kind__in=(ANSWER_QUERY, READ_ROWS), parameters__recipient=str(recipient.id)
    )
    if share is not None:
        tables = share.shared_tables.values_list("id", flat=True)
        waited_for = waited_for.filter(
            parameters__shared_table__in=[str(table_id) for table_id in tables]
        )
    for job in waited_for:
        cancel(job, now=now)
