"""Rows of a file or of another table, merged: looked at first, or done at once."""

from dataclasses import dataclass, field

from django.http import HttpRequest

from apps.accounts.permissions import signed_in
from apps.api.calls import Answer
from apps.api.catalogue.new_tables import WantedFile
from apps.api.catalogue.operations import (
    Wanted,
    asked_answer,
    asked_of,
    body_of,
)
from apps.api.endpoint import RestView, Role, endpoint
from apps.api.errors import BodyInvalidError
from apps.jobs.listing.resource import Started
from apps.tables.catalogue.adding.checked import checked_merge
from apps.tables.catalogue.adding.work.merge import MERGE, MergeRows
from apps.tables.catalogue.names import parse_table_name
from apps.tables.head.finding import get_own_table, get_table
from apps.tables.head.job_json import check_may


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedMerge:
    """What is merged, and what becomes of which rows.

    Attributes:
        on: The SQL condition for matching rows: `t` is the table, `s` the source.
        table: The registered table with the source rows; or give `file`.
        file: The file with the source rows.
        update_all: Whether to update matching rows with the values of the source.
        insert_all: Whether to insert the other rows of the source.
        delete_where: An SQL condition; matching rows that meet it are deleted instead.
        time_zone: The time zone of times without one in all SQL.
    """

    on: str
    table: str = ""
    file: WantedFile = field(default_factory=WantedFile)
    update_all: bool = False
    insert_all: bool = False
    delete_where: str | None = None
    time_zone: str = "UTC"


MERGE_BODY = body_of("merge_rows", WantedMerge)


class RowMerge(RestView):
    """Rows that are merged."""

    @endpoint(Role.VIEWER, body=MERGE_BODY, answers={202: Started})
    def post(
        self, request: HttpRequest, namespace: str, name: str, body: Wanted
    ) -> Answer:
        """Merge the rows of a file or of another table into a table.

        A preview says how many rows would be updated, deleted and inserted. It needs
        the right to edit the table.
        """
        table = get_own_table(signed_in(request), namespace, name)
        check_may(table, table.version)
        wanted: WantedMerge | None = asked_of(body)
        asked = wanted and checked_merge(_merge_of(request, wanted))
        return asked_answer(request, MERGE, table, body, asked)


def _merge_of(request: HttpRequest, wanted: WantedMerge) -> MergeRows:
    user, source = signed_in(request), {}
    if wanted.table:
        named = parse_table_name(wanted.table)
        found = get_table(user, named.namespace, named.name)
        source = {"source_id": str(found.id), "source": found.full_name}
    merge = MergeRows(
        user_id=user.pk,
        on=wanted.on,
        update_all=wanted.update_all,
        insert_all=wanted.insert_all,
        delete_where=wanted.delete_where or None,
        time_zone=wanted.time_zone,
        **source or wanted.file.facts(),
    )
    if not merge.clauses:
        reason = "parameters: update_all, insert_all or delete_where is needed"
        raise BodyInvalidError(reason=reason)
    return merge
