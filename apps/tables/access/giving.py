"""Giving a right to a person or a group, and ending it."""

from datetime import datetime

from apps.accounts.models import Group, User
from apps.news.publishing import publish
from apps.news.topics import of_user
from apps.pages.actions import Action, Stamp, report
from apps.tables.access.place import Place, Target
from apps.tables.models import Grant, Table


def give(  # noqa: PLR0913 (each is a column of the row)
    place: Place,
    holder: User | Group,
    right: str,
    *,
    until: datetime | None,
    reason: str,
    stamp: Stamp,
) -> Grant:
    """Give a right, and record it. Call it in a transaction.

    Args:
        place: A table, or a namespace with all its tables.
        holder: A person, or a group for all its members.
        right: `view`, `edit`, `share` or `own`.
        until: The moment from which on it does not count; None for no end.
        reason: What it is for.
        stamp: Who gives it.
    """
    grant = Grant.objects.create(
        user=holder if isinstance(holder, User) else None,
        group=holder if isinstance(holder, Group) else None,
        table=place.table,
        namespace=None if place.table else place.namespace,
        right=right,
        until=until,
        reason=reason,
        given_by=stamp.actor.name,
        given_at=stamp.at,
    )
    detail = {
        "right": right,
        "until": until.isoformat() if until else None,
        "reason": reason,
    }
    report(access_action("access.give", place, stamp, to=grant.holder_name, **detail))
    tell(holder)
    return grant


def end(grant: Grant, stamp: Stamp) -> Grant:
    """End a right at once, and record it. Call it in a transaction."""
    if grant.is_active(stamp.at):
        grant.ended_at, grant.ended_by = stamp.at, stamp.actor.name
        grant.save(update_fields=["ended_at", "ended_by"])
        place = Place(grant.table or grant.namespace or Table())
        detail = {"right": grant.right}
        report(
            access_action("access.end", place, stamp, of=grant.holder_name, **detail)
        )
        tell(grant.user or grant.group)
    return grant


def access_action(name: str, target: Target, stamp: Stamp, **detail: object) -> Action:
    """Return the record of a change of the access to something."""
    table = target.table
    return Action(
        name=name,
        stamp=stamp,
        table=table.full_name if table else "",
        table_id=table.id if table else None,
        share=target.share,
        detail={"on": target.name, **detail},
    )


def tell(holder: User | Group | None) -> None:
    """Let open pages of the people whose rights have changed ask again."""
    if isinstance(holder, User):
        publish(of_user(holder.id))
    elif holder is not None:
        members = holder.memberships.values_list("user", flat=True)
        for user_id in members.distinct():
            publish(of_user(user_id))
