"""Tables as what jobs are about: their names and pages, and how they are found."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.jobs.visibility import SubjectLink
from apps.tables.errors import TableNotRegisteredError
from apps.tables.models import Table, name_holds

if TYPE_CHECKING:  # most processes do no work
    from apps.jobs.running.tracking import TrackedJob

Page = tuple[str, Sequence[object], Mapping[str, object]]
"""URL name, what it takes beside the table's names, and the query."""


def table_of(job: "TrackedJob") -> Table:
    """Return the table of a job."""
    table = Table.objects.filter(id=job.parameters["table_id"]).first()
    if table is None:
        raise TableNotRegisteredError(name=job.title)
    return table


def on_table(page: Callable[[Job], Page | None]) -> Callable[[Job], str | None]:
    """Return the address of a page of the job's table; None if that is gone."""

    def result_url(job: Job) -> str | None:
        if job.subject_id is None or (found := page(job)) is None:
            return None
        tables = Table.objects.filter(id=job.subject_id).only("namespace", "name")
        table = tables.first()
        if table is None:
            return None
        url_name, more, query = found
        address = reverse(url_name, args=[table.namespace, table.name, *more])
        return f"{address}?{urlencode(query)}" if query else address

    return result_url


def about_tables_with(user: User, right: str) -> Q:
    """Return the condition of jobs about tables on which a user has a right."""
    tables = Table.objects.with_right(user, right)
    return Q(Exists(tables.filter(id=OuterRef("subject_id")).order_by()))


def subject_links(ids: Collection[UUID]) -> dict[UUID, SubjectLink]:
    """Return the names and pages of tables, for jobs that are about them."""
    tables = Table.objects.filter(id__in=ids).only(
        "id", "namespace", "name", "location"
    )
    return {
        table.id: SubjectLink(table.full_name, table.get_absolute_url(), table.location)
        for table in tables
    }


def subjects_named(text: str) -> QuerySet[Table, UUID]:
    """Return the ids of the tables whose name holds a text."""
    return Table.objects.filter(name_holds(text)).values_list("id", flat=True)
