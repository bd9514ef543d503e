"""The accounts of people who sign on: found by issuer and subject, made, kept true."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F

from apps.accounts import errors
from apps.accounts.models import Group, Identity, Invitation, Membership, User
from apps.accounts.services.addresses import take_verified_address
from apps.accounts.services.records import (
    account_action,
    failed_sign_in_action,
    sign_in_action,
)
from apps.accounts.sign_on.admission import (
    MAX_NAME,
    MAX_SUBJECT,
    Person,
    Rules,
    Verdict,
    verdict_of,
)
from apps.news.publishing import publish
from apps.news.topics import of_user
from apps.operate.switches.guards import check_sign_in
from apps.pages.actions import FieldChange, Stamp, report, report_changes

PROXY: Final = "proxy"
"""The issuer of people whom the header of a proxy names."""
_NOT_IN_NAMES: Final = re.compile(r"[^\w.@+-]+")
_NUM_TRIES: Final = 1000


def sign_on(person: Person, rules: Rules, stamp: Stamp) -> Identity:
    """Admit a person, and bring the account up to date.

    Raises:
        SignOnRefusedError: If no rule admits the person, or the account is disabled.
    """
    check_person(person)
    try:
        return _sign_on(person, rules, stamp)
    except IntegrityError:
        # A browser asks for several things at once: another request made the account.
        return _sign_on(person, rules, stamp)


def _sign_on(person: Person, rules: Rules, stamp: Stamp) -> Identity:
    identity, invitation = known(person, stamp)
    invited = invitation is not None or (identity is not None and identity.is_invited)
    verdict = verdict_of(person, rules, invited=invited)
    user = None if identity is None else identity.user
    if not verdict.admitted or (user is not None and not user.is_active):
        return _refuse(user, verdict, person, stamp)
    check_sign_in(user)
    with transaction.atomic():
        if identity is None:
            identity = _new_identity(person, invitation, stamp)
        _update(identity, person, verdict, stamp)
        by = "proxy" if person.issuer == PROXY else "provider"
        report(sign_in_action(identity.user, stamp, by=by))
    return identity


def known(person: Person, stamp: Stamp) -> tuple[Identity | None, Invitation | None]:
    """Return the identity of a person, or else the invitation of a new one."""
    identities = Identity.objects.select_related("user")
    identity = identities.filter(issuer=person.issuer, subject=person.subject).first()
    if identity is not None or not person.verified_email:
        return identity, None
    invitations = Invitation.objects.filter(expires_at__gt=stamp.at)
    return None, invitations.filter(email=person.verified_email).first()


def check_person(person: Person) -> None:
    """Refuse a subject that a database cannot store unchanged."""
    subject = person.subject
    is_plain = subject.isprintable() and "\0" not in subject
    if not subject.strip() or len(subject) > MAX_SUBJECT or not is_plain:
        raise errors.SignOnRefusedError(reasons=("The subject cannot be used.",))


def _refuse(
    user: User | None, verdict: Verdict, person: Person, stamp: Stamp
) -> Identity:
    """Record a refusal. A person who is no longer admitted loses what is open."""
    is_disabled = verdict.admitted
    reasons = ("The account is disabled.",) if is_disabled else tuple(verdict.reasons)
    error = errors.SignOnRefusedError(reasons=reasons)
    by = "proxy" if person.issuer == PROXY else "provider"
    with transaction.atomic():
        if user is not None:
            end_everything(user)
        report(failed_sign_in_action(user, stamp, by=by, error=error))
    raise error


def end_everything(user: User) -> None:
    """End every session and stream of a person, and suspend the keys."""
    User.objects.filter(id=user.id).update(
        is_signed_out=True, session_generation=F("session_generation") + 1
    )
    publish(of_user(user.id))


def _new_identity(
    person: Person, invitation: Invitation | None, stamp: Stamp
) -> Identity:
    role = User.Role.VIEWER if invitation is None else User.Role(invitation.role)
    user = _new_user(person, role)
    identity = Identity.objects.create(
        user=user,
        issuer=person.issuer,
        subject=person.subject,
        is_invited=invitation is not None,
        created_at=stamp.at,
    )
    if invitation is not None and not invitation.delete()[0]:
        reasons = ("Another person used the invitation up.",)
        raise errors.SignOnRefusedError(reasons=reasons)
    by = replace(stamp.actor, name=user.username, user_id=user.id)
    detail = {"role": user.get_role_display(), "issuer": person.issuer}
    report(account_action("user.create", user, Stamp(by, stamp.at), **detail))
    return identity


def _new_user(person: Person, role: User.Role) -> User:
    """Make an account with a free name: no account of that name is ever met."""
    wanted = person.name or person.verified_email or person.subject
    name = _NOT_IN_NAMES.sub("-", User.normalize_username(wanted)).strip("-")
    name = name[: MAX_NAME - 5] or "user"
    for number in range(1, _NUM_TRIES):
        free = name if number == 1 else f"{name}-{number}"
        if User.objects.named(free).exists():
            continue
        user = User(username=free, role=role)
        user.set_unusable_password()
        try:
            with transaction.atomic():
                user.save(force_insert=True)
        except IntegrityError:  # another sign-on took the name
            continue
        return user
    raise errors.SignOnRefusedError(reasons=("No name is free for the account.",))


def _update(identity: Identity, person: Person, verdict: Verdict, stamp: Stamp) -> None:
    """Keep what the provider says now: the time, the address, the role, the groups."""
    user = identity.user
    by = Stamp(replace(stamp.actor, name=user.username, user_id=user.id), stamp.at)
    _take_address(user, person.verified_email, before=identity.email, stamp=by)
    identity.last_signed_in_at = user.signed_on_at = stamp.at
    identity.email = person.verified_email[:254]
    identity.save(update_fields=["last_signed_in_at", "email"])
    user.is_signed_out = False
    old = user.get_role_display()
    if verdict.role:
        user.role = verdict.role
    user.save(update_fields=["signed_on_at", "is_signed_out", "role"])
    change = FieldChange("user.set_role", old, user.get_role_display())
    if report_changes(account_action("", user, by), [change]):
        publish(of_user(user.id))
    _replace_groups(user, person.groups, stamp)


def _take_address(user: User, address: str, *, before: str, stamp: Stamp) -> None:
    """Let a verified address be that of the account, which counts as confirmed.

    An address that the user chose and confirmed stays, and one that another account
    has is nobody else's.

    Args:
        before: The verified address at the last sign-on; empty for none.
    """
    address = address.strip()  # stored addresses have no spaces around them
    if not address or (user.mail_address and user.mail_address.lower() != before):
        return
    others = User.objects.filter(email__iexact=address).exclude(id=user.id)
    if not others.exists():
        with suppress(errors.UserInvalidError):  # nothing that gets mail
            take_verified_address(user=user, address=address, stamp=stamp)


def _replace_groups(user: User, names: Sequence[str], stamp: Stamp) -> None:
    """Replace the memberships by claims.

    A group that an administrator made is never joined by a claim: whoever makes groups
    at the provider would choose who gets its permissions.
    """
    wanted = {
        name.lower(): name
        for name in names
        if 0 < len(name) <= MAX_NAME and name.isprintable()
    }
    claimed = Group.objects.filter(source=Group.Source.CLAIM)
    found = {group.name.lower(): group for group in Group.objects.all()}
    for key in wanted.keys() - found.keys():
        # The database may hold two names for one where Python does not: an "İ".
        with suppress(IntegrityError), transaction.atomic():
            found[key], _ = claimed.get_or_create(
                name=wanted[key],
                defaults={"source": Group.Source.CLAIM, "created_at": stamp.at},
            )
    ids = {
        one.id
        for key, name in wanted.items()
        if (one := found.get(key)) is not None
        and (one.source, one.name) == (Group.Source.CLAIM, name)
    }
    mine = Membership.objects.filter(user=user, source=Group.Source.CLAIM)
    mine.exclude(group_id__in=ids).delete()
    kept = set(mine.values_list("group_id", flat=True))
    Membership.objects.bulk_create(
        (
            Membership(
                group_id=one, user=user, source=Group.Source.CLAIM, since=stamp.at
            )
            for one in sorted(ids - kept)
        ),
        ignore_conflicts=True,  # another request of the person was first
    )
