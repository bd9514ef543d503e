"""An error of one table's page keeps the head of the table, and with it the ways on."""

import re
from typing import Final

from django.http import HttpRequest

from apps.pages.errors import Frame, PageError

_PAGE_OF_TABLE: Final = re.compile(r"/t/(?P<namespace>[^/]+)/(?P<name>[^/]+)(/|$)")


def table_frame(request: HttpRequest) -> Frame | None:
    """Return the frame of a table that the user may see, at the version asked for.

    A version that cannot be shown is what the error is about: the head is the newest
    one's.
    """
    found = _PAGE_OF_TABLE.match(request.path_info)
    user = getattr(request, "user", None)
    if found is None or user is None or not user.is_authenticated:
        return None
    # What pages show is imported by processes that make pages, not by every command.
    from apps.tables.head.finding import get_table, requested_version  # noqa: PLC0415
    from apps.tables.head.table_head import table_head  # noqa: PLC0415

    try:
        table = get_table(user, found["namespace"], found["name"])
    except PageError:
        return None
    try:
        version = requested_version(table, request.GET.get("v", ""))
    except PageError:
        version = None
    head = table_head(table, version)
    return Frame(
        template="tables/head/table_error.html", context={"head": head, "table": table}
    )
