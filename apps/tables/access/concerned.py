"""Whom requests of access concern: who decides, and who has asked."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db.models import Q

from apps.accounts.models import User
from apps.notices.models import Event
from apps.tables.access.requested import target_of
from apps.tables.extension.requestables import Requestable
from apps.tables.models import AccessRequest
from apps.tables.models.rights import OWN


def deciders(events: Sequence[Event], now: datetime) -> Mapping[int, set[int]]:
    """Return who can decide about new requests: owners by a grant, administrators."""
    admins = User.objects.filter(role=User.Role.ADMIN).values_list("id", flat=True)
    everywhere = set(admins)
    found = {}
    for event_id, request in _requests(events).items():
        target = target_of(request)
        if isinstance(target, Requestable):
            found[event_id] = everywhere - {request.requested_by_id}
            continue
        grants = target.grants.active(now).filter(right=OWN)
        by_grant = Q(id__in=grants.exclude(user=None).values("user"))
        by_group = Q(memberships__group__in=grants.exclude(group=None).values("group"))
        owners = User.objects.filter(by_grant | by_group).values_list("id", flat=True)
        found[event_id] = everywhere.union(owners) - {request.requested_by_id}
    return found


def requesters(events: Sequence[Event], _: datetime) -> Mapping[int, set[int]]:
    """Return who has asked for what others have decided."""
    return {
        event_id: {request.requested_by_id}
        for event_id, request in _requests(events).items()
        if request.state != AccessRequest.State.WITHDRAWN
        and request.decided_by != request.requested_by.username
    }


def _requests(events: Sequence[Event]) -> dict[int, AccessRequest]:
    """Return the requests that still exist, by the ids of their events."""
    numbers = [int(one.subject_id) for one in events]
    found = AccessRequest.objects.select_related("requested_by", "table", "namespace")
    by_number = found.in_bulk(numbers)
    return {
        one.id: by_number[int(one.subject_id)]
        for one in events
        if int(one.subject_id) in by_number
    }
