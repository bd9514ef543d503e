"""The Sharing tab of a table."""

from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from deltaweb.web.accounts.permissions import editor_required, signed_in
from deltaweb.web.pages.responses import respond
from deltaweb.web.sharing.activity.charts import use_charts
from deltaweb.web.sharing.shares import table_sharing as selectors
from deltaweb.web.tables.head.table_head import get_table, table_head


@editor_required
def table_sharing(
    request: HttpRequest, *, namespace: str, name: str, fmt: str
) -> HttpResponseBase:
    """Show where a table is shared, who may read it and who did."""
    user = signed_in(request)
    table = get_table(user, namespace, name)
    found = selectors.table_sharing(table, now=timezone.now())
    return respond(
        request,
        fmt,
        template="sharing/shares/table_sharing.html",
        context={
            "head": table_head(table),
            "table": table,
            "found": found,
            "charts": use_charts(found.use.days),
        },
        data=found,
    )
