"""Shares and recipients as subjects that people follow."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from apps.accounts.models import User
from apps.notices.events.kind import EventSubject
from apps.notices.following.subjects import (
    FollowedSubjects,
    register,
)
from apps.sharing.errors import RecipientNotFoundError, ShareNotFoundError
from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.names import find_recipient, find_share


def found_share(user: User, name: str) -> EventSubject:
    """Return a share as a subject; only administrators see shares.

    Raises:
        ShareNotFoundError: If there is none, or the user may not see it.
    """
    if not user.is_admin:
        raise ShareNotFoundError(name=name)
    share = find_share(name)
    return EventSubject("share", str(share.id), share.name)


def found_recipient(user: User, name: str) -> EventSubject:
    """Return a recipient as a subject; only administrators see recipients.

    Raises:
        RecipientNotFoundError: If there is none, or the user may not see it.
    """
    if not user.is_admin:
        raise RecipientNotFoundError(name=name)
    recipient = find_recipient(name)
    return EventSubject("recipient", str(recipient.id), recipient.name)


def named_by(
    model: type[Share | Recipient],
) -> Callable[[Collection[str]], dict[str, tuple[str, str]]]:
    """Return a function that returns the names and pages of rows of a model."""

    def named(ids: Collection[str]) -> dict[str, tuple[str, str]]:
        rows = model._default_manager.filter(id__in=ids)  # noqa: SLF001 (Django documents it)
        return {str(one.id): (one.name, one.get_absolute_url()) for one in rows}

    return named


def shares_above(ids: Collection[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the shares that have tables."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    rows = SharedTable.objects.filter(table_id__in=ids).order_by()
    for table_id, share_id in rows.values_list("table_id", "share_id"):
        found[str(table_id)].append(("share", str(share_id)))
    return found


register(
    FollowedSubjects(
        kind="share",
        words="share",
        icon="share-3",
        hears=("share", "table"),
        find=found_share,
        named=named_by(Share),
    ),
    FollowedSubjects(
        kind="recipient",
        words="recipient",
        icon="users",
        hears=("recipient",),
        find=found_recipient,
        named=named_by(Recipient),
    ),
    parents_of=shares_above,
)
