"""The Sharing tab of a table."""

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.permissions import editor_required
from apps.pages.responses import respond
from apps.sharing import charts
from apps.sharing.selectors import table_sharing as selectors
from apps.tables.selectors import get_table, table_head
from apps.tables.views.shapes import signed_in


@require_safe
@editor_required
def table_sharing(
    request: HttpRequest, *, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show where a table is shared, who may read it and who did."""
    user = signed_in(request)
    table = get_table(user, namespace, name)
    found = selectors.table_sharing(table, now=timezone.now())
    if not any(day.num_requests for day in found.use):
        drawn = []
    else:
        drawn = [
            charts.requests_per_day(found.use),
            charts.bytes_per_day(found.use),
        ]
    recipients = [
        (row, found.shares_of.get(str(row.recipient.id), []))
        for row in found.recipients
    ]
    return respond(
        request,
        fmt,
        template="sharing/table_sharing.html",
        context={
            "head": table_head(table),
            "table": table,
            "found": found,
            "recipients": recipients,
            "charts": drawn,
        },
        data={
            "namespace": table.namespace,
            "name": table.name,
            **selectors.table_sharing_data(found),
        },
    )
