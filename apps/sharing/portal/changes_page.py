"""The rows of a table that changed since the last visit of a recipient."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Min
from django.http import HttpRequest, HttpResponseBase

from apps.sharing.access.browser import open_table
from apps.sharing.activity.budgets import check_budget
from apps.sharing.answers.changed_rows import FEED
from apps.sharing.answers.opening import open_shared
from apps.sharing.models import PreparedChanges
from apps.sharing.portal.cells import changed_cells_of
from apps.sharing.portal.reading import refusal_of, rows_job
from apps.sharing.portal.row_query import (
    RowQuery,
    SeenTable,
    changes_of,
    parse_page,
    seen_table,
)
from apps.sharing.portal.table_page import about_table, note_rows, shown_rows
from apps.sharing.portal.visit import Visit, shown, visitors_page
from deltaweb.delta.feed.versions import is_feed_on
from deltaweb.delta.log.commits.times import to_ms

FIRST_LOOK: Final = timedelta(days=7)  # where there is no earlier visit
KINDS: Final = {
    "insert": ("inserted", "c-ins"),
    "delete": ("deleted", "c-del"),
    "update": ("updated", "c-upd"),
    "update_preimage": ("updated from", "c-del"),
    "update_postimage": ("updated to", "c-ins"),
}


@visitors_page("portal.changes")
def changes(
    request: HttpRequest, visit: Visit, *, share: str, schema: str, table: str
) -> HttpResponseBase:
    """Show the rows that were inserted, updated or deleted since the last visit."""
    shared = open_table(visit.recipient, share, schema, table)
    record = visit.record
    record.shared_table = shared
    seen = seen_table(shared, visit.recipient, now=visit.now)
    query = RowQuery(conditions=[], page=parse_page(request.GET))
    since = visit.session.previous_visit_at or visit.now - FIRST_LOOK
    context = about_table(visit, seen, request)
    context |= {"since": since, "is_first": visit.session.previous_visit_at is None}
    kept = kept_from(seen)
    context["is_kept"] = kept is not None
    first = None
    if shared.history_start is not None and kept is not None:
        first = first_version(seen, since, kept=kept)
    if first is None:
        record.is_recorded = False  # nothing was read
        return _answer(request, visit, context | {"query": query})
    check_budget(visit.recipient, now=visit.now)
    asked = changes_of(seen, first, query)
    job, result = rows_job(asked, now=visit.now)
    refusal = refusal_of(job)
    found = None
    if result is None or refusal:
        record.is_recorded = False
    else:
        columns = (*FEED, *seen.columns)
        found = shown_rows(query, result, columns, changed_cells_of)
        record.version, record.last_version = first, seen.version.version
        note_rows(visit, job, result, len(found.lines))
    page = query.page
    context |= {
        "query": query,
        "is_asked": True,
        "refusal": refusal,
        "rows": found,
        "lines": [
            (*KINDS.get(kind.text or "", (kind.text, "")), version.text, cells)
            for kind, version, *cells in (found.lines if found else [])
        ],
        "previous": f"{request.path}?page={page - 1}" if page > 1 else "",
        "next": f"{request.path}?page={page + 1}" if found and found.has_more else "",
    }
    return _answer(request, visit, context)


def kept_from(seen: SeenTable) -> int | None:
    """Return the version from which on a table keeps changes; None if it does not.

    A table that is not indexed may keep them from the first version on.
    """
    found = None
    known = seen.shared.table.metadata_versions.order_by("-version")
    rows = list(known.values_list("version", "configuration"))
    for version, configuration in rows:
        if not is_feed_on(configuration):
            break
        found = version
    return found if rows else 0


def first_version(seen: SeenTable, since: datetime, *, kept: int) -> int | None:
    """Return the first version since a moment whose changes are shared; None if none.

    Of a part, changes are ready from some version on.

    Args:
        kept: The version from which on the table keeps changes.
    """
    times = open_shared(seen.shared).commit_times()
    found = times.version_from(to_ms(since))
    if found is None:
        return None
    first = max(found, kept, seen.shared.first_version)
    if not seen.rule.is_stored:
        ready = PreparedChanges.objects.filter(
            shared_table=seen.shared, rule=seen.rule.digest
        ).aggregate(first=Min("version"))
        first = max(first, ready["first"] or 0)
    return first if first <= seen.version.version else None


def _answer(
    request: HttpRequest, visit: Visit, context: dict[str, object]
) -> HttpResponseBase:
    is_part = "HX-Request" in request.headers
    template = "changes.html#changes" if is_part else "changes.html"
    return shown(request, template, context, visit=visit)
