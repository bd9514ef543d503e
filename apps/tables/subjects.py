"""Tables as what jobs are about: their names and pages, and how they are found."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import QuerySet

from apps.jobs.visibility import SubjectLink
from apps.tables.models import Table, name_holds


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
