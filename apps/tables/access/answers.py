"""The answer to "Can anna see this?", with the reasons, one after another."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from math import inf

from django.db.models import Q

from apps.accounts.models import Group, Membership, User
from apps.tables.access.people import RIGHTS, active_grants
from apps.tables.access.place import Place
from apps.tables.models import Grant
from apps.tables.models.rights import (
    EVERY_RIGHT,
    NO_RIGHT,
    OF_GRANT,
    OF_ROLE,
    OWN,
    VIEW,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyLine:
    """A step of the reasons.

    Attributes:
        text: The fact, as a sentence without a full stop.
        more: Who said so and when; "" if there is nothing to add.
    """

    text: str
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RightAnswer:
    """Whether a person has a right.

    Attributes:
        right: `view`, `edit`, `share` or `own`.
        until: The time when it ends; null for never, or without the right.
    """

    right: str
    has: bool
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessAnswer:
    """Whether a person or a group can see something, and why.

    Attributes:
        name: The person or the group.
        kind: `person` or `group`.
        on: The table, or the namespace such as `sales.*`.
        can_view: Whether the person can view it now.
        until: The time when that ends; null for never.
        reasons: The reasons, as a chain.
        rights: The four rights.
        groups: The groups of the person.
    """

    name: str
    kind: str
    on: str
    can_view: bool
    until: datetime | None
    reasons: list[WhyLine]
    rights: list[RightAnswer]
    groups: list[str]


@dataclass(frozen=True, slots=True)
class _Reason:
    """Rights that a person has, their end, and why."""

    rights: frozenset[str]
    until: datetime | None
    lines: tuple[WhyLine, ...]


def answer_for(name: str, place: Place, now: datetime) -> AccessAnswer | None:
    """Return the answer for a person or a group; None if there is neither."""
    if "\0" in name:
        return None
    user = User.objects.named(name).first()
    if user is not None:
        return _of_person(user, place, now)
    group = Group.objects.named(name).first()
    return None if group is None else _of_group(group, place, now)


def _of_person(user: User, place: Place, now: datetime) -> AccessAnswer:
    memberships = {
        one.group_id: one
        for one in Membership.objects.filter(user=user).select_related("group")
    }
    reasons = list(_by_role(user, place))
    for grant in active_grants(place, now):
        if grant.user_id == user.id:
            reasons.append(_by_grant(grant, place, ()))
        elif grant.group_id in memberships:
            member = _membership_line(user, memberships[grant.group_id])
            reasons.append(_by_grant(grant, place, (member,)))
    if not user.is_active:
        reasons = []
    groups = sorted(one.group.name for one in memberships.values())
    return _answer(user.username, "person", place, reasons, groups, now, user)


def _of_group(group: Group, place: Place, now: datetime) -> AccessAnswer:
    grants = [one for one in active_grants(place, now) if one.group_id == group.id]
    reasons = [_by_grant(one, place, ()) for one in grants]
    return _answer(group.name, "group", place, reasons, [], now, None)


def _answer(  # noqa: PLR0913, PLR0917 (each is one fact)
    name: str,
    kind: str,
    place: Place,
    reasons: list[_Reason],
    groups: list[str],
    now: datetime,
    user: User | None,
) -> AccessAnswer:
    rights = []
    for right in RIGHTS:
        of_right = [one for one in reasons if right in one.rights]
        until = _latest(of_right)
        rights.append(RightAnswer(right=right, has=bool(of_right), until=until))
    can_view = rights[0].has
    if can_view:
        lines = list(_chain(reasons))
    else:
        lines = list(_why_not(name, place, now, user))
    return AccessAnswer(
        name=name,
        kind=kind,
        on=place.name,
        can_view=can_view,
        until=rights[0].until,
        reasons=lines,
        rights=rights,
        groups=groups,
    )


def _by_role(user: User, place: Place) -> Iterator[_Reason]:
    if user.is_admin:
        line = WhyLine(
            text=f"{user.username} is an administrator",
            more="administrators see and change everything",
        )
        yield _Reason(EVERY_RIGHT, None, (line,))
    elif not place.is_private:
        rights = OF_ROLE.get(user.role, NO_RIGHT)
        lines = (
            WhyLine(text=f"{place.name} is open, so roles decide"),
            WhyLine(
                text=f"{user.username} has the role {user.get_role_display()}",
                more=_includes(rights),
            ),
        )
        yield _Reason(rights, None, lines)


def _by_grant(grant: Grant, place: Place, before: tuple[WhyLine, ...]) -> _Reason:
    until = f" until {grant.until:%-d %b %Y}" if grant.until else ""
    reason = f": “{grant.reason}”" if grant.reason else ""
    kind = "namespace " if grant.namespace_id is not None else ""
    verb = "owns" if grant.right == OWN else f"can {grant.right}"
    lines = [
        *before,
        WhyLine(
            text=f"{grant.holder_name} {verb} {kind}{grant.subject_name}{until}",
            more=f"given by {grant.given_by} on {grant.given_at:%-d %b %Y}{reason}",
        ),
    ]
    if grant.namespace_id is not None and place.table is not None:
        lines.append(WhyLine(text=f"{place.name} is in {grant.subject_name}"))
    return _Reason(OF_GRANT[grant.right], grant.until, tuple(lines))


def _membership_line(user: User, one: Membership) -> WhyLine:
    is_claim = one.source == Group.Source.CLAIM
    source = "from the sign-on" if is_claim else "added by an administrator"
    return WhyLine(
        text=f"{user.username} is in the group {one.group.name}",
        more=f"{source}, since {one.since:%-d %b %Y}",
    )


def _chain(reasons: list[_Reason]) -> Iterator[WhyLine]:
    """Yield the reason that lasts longest, then the others."""
    viewing = [one for one in reasons if VIEW in one.rights]
    first = max(viewing, key=lambda one: one.until.timestamp() if one.until else inf)
    yield from first.lines
    others = [one for one in reasons if one is not first]
    if not others:
        yield WhyLine(text="No other role, group or grant gives more")
    for one in others:
        yield WhyLine(
            text="Also: " + one.lines[-1].text
            if len(one.lines) == 1
            else "Also: " + "; ".join(line.text for line in one.lines),
            more=_includes(one.rights),
        )


def _why_not(
    name: str, place: Place, now: datetime, user: User | None
) -> Iterator[WhyLine]:
    if user is not None and not user.is_active:
        yield WhyLine(text=f"The account of {name} is disabled")
        return
    namespace = f" or {place.namespace.name}.*" if place.table else ""
    yield WhyLine(
        text=f"No role, group or grant gives {name} access to {place.name}{namespace}"
    )
    if user is not None and (ended := _newest_ended(user, place, now)) is not None:
        when = ended.ended_at or ended.until
        date = f"{when:%-d %b %Y}" if when else ""
        by = f"by {ended.ended_by}" if ended.ended_by else "at its end date"
        yield WhyLine(
            text=f"{ended.holder_name} could {ended.right} {ended.subject_name}"
            f" until {date}",
            more=f"it ended {by}",
        )
    if place.row.is_listed:
        yield WhyLine(
            text=f"The {place.noun} is listed, so {name} finds its name, description "
            "and owner",
            more="and can request access",
        )
    else:
        yield WhyLine(
            text=f"The {place.noun} is not listed, so {name} does not find it"
        )


def _newest_ended(user: User, place: Place, now: datetime) -> Grant | None:
    groups = Membership.objects.filter(user=user).values("group")
    counting = place.grants.active(now).values("id")
    found = place.grants.exclude(id__in=counting).filter(
        Q(user=user) | Q(group__in=groups)
    )
    related = found.select_related("user", "group", "table", "namespace")
    return related.order_by("-id").first()


def _latest(reasons: list[_Reason]) -> datetime | None:
    ends = [one.until for one in reasons]
    return None if None in ends or not ends else max(one for one in ends if one)


def _includes(rights: frozenset[str]) -> str:
    return f"gives {', '.join(one for one in RIGHTS if one in rights)}"
