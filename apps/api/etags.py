"""The tag of an answer about one version of a table, which stays what it is.

What else such an answer tells, as how far the index is by now, is beside the point: the
tag is a weak one.
"""

import hashlib
from typing import Final

from django.http import HttpRequest

from deltaweb.version import VERSION
from deltaweb.web.accounts.zones import user_zone_name
from deltaweb.web.tables.head.shapes import signed_in
from deltaweb.web.tables.head.table_head import get_table, requested_version

KEPT: Final = "private, no-cache"  # by the client that asks again each time
LENGTH: Final = 32


def tag_of(request: HttpRequest, namespace: str, name: str, version: str) -> str:
    """Return the tag of the answer to a request.

    Args:
        request: Its address and who asks are part of it.
        namespace: Of the table.
        name: Likewise.
        version: As somebody wrote it.
    """
    user = signed_in(request)
    table = get_table(user, namespace, name)
    parts = (
        VERSION,
        table.id,
        requested_version(table, version),
        request.path,
        sorted(request.GET.lists()),
        user.role,
        user_zone_name(user),
    )
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()
    return f'W/"{digest[:LENGTH]}"'
