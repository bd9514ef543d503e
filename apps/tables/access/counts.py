"""What other pages say of access: rights of groups, and requests and who sees them."""

from collections.abc import Collection, Iterator
from datetime import datetime

from django.db.models import Q
from django.shortcuts import resolve_url
from django.utils import timezone

from apps.accounts.groups.resource import GroupGrant
from apps.accounts.models import Group, User
from apps.pages.frame import AnyUser, KeyNumber
from apps.tables.access.place import Place
from apps.tables.access.requested import TO_DECIDE, decidable_by
from apps.tables.models import AccessRequest, Grant, Table
from apps.tables.models.rights import OWN
from apps.tables.permissions import may


def open_requests(user: AnyUser, table: Table) -> int:
    """Return the number of open requests of a table that a user decides; else 0."""
    now = timezone.now()
    # A page's table knows the rights of its reader: most readers cost no query.
    if not isinstance(user, User) or not getattr(table, "may_own", True):
        return 0
    count = AccessRequest.objects.open(now).filter(table=table).count()
    return count if count and may(user, OWN, table, now) else 0


def requests_number(user: AnyUser, now: datetime) -> KeyNumber | None:
    """Return the number of requests that a user has to decide; None without one."""
    if not isinstance(user, User) or not AccessRequest.objects.open(now).exists():
        return None
    count = decidable_by(user, now).open(now).count()
    if not count:
        return None
    return KeyNumber(
        key="access_requests",
        label="Access requests",
        value=count,
        note="wait for your decision",
        url=f"{resolve_url('tables:request-list')}?whose={TO_DECIDE}",
    )


def visible_requests(user: User, ids: Collection[str]) -> set[str]:
    """Return those of some requests that a user made, or decides."""
    now = timezone.now()
    numbers = [int(one) for one in ids if one.isdigit()]
    about = Q(requested_by=user.pk) | Q(id__in=decidable_by(user, now).values("id"))
    found = AccessRequest.objects.filter(about, id__in=numbers)
    return {str(one) for one in found.values_list("id", flat=True)}


def url_of_request(key: str) -> str | None:
    """Return the address that leads to the page of a request; see `request_shown`."""
    return resolve_url("tables:request-shown", key) if key.isdecimal() else None


def grants_of_group(group: Group, now: datetime) -> Iterator[GroupGrant]:
    """Yield the rights that a group has at a moment."""
    found = Grant.objects.filter(group=group).active(now).order_by("id")
    for grant in found.select_related("table", "namespace"):
        row = grant.table or grant.namespace
        if row is not None:
            place = Place(row)
            url = f"{place.access_url}#grants"
            yield GroupGrant(
                right=grant.right, on=place.name, until=grant.until, url=url
            )
