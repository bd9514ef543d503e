"""What administrators ask of tokens: issue, hand over, rotate, end, revoke.

The secret of a token is made when its profile is fetched and never before, so what
waits for its activation holds nothing that could leak.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Least

from apps.accounts.tokens import sha256
from apps.pages.actions import Action, Actor, report
from apps.sharing.errors import RetirementInvalidError, TokenStateError
from apps.sharing.lifetimes import check_lifetime, parse_lifetime
from apps.sharing.models import ActivationLink, Recipient, RecipientToken
from apps.sharing.profile import Profile, new_profile
from apps.sharing.tokens import new_nonce, new_prefix, new_secret

__all__ = [
    "issue_link",
    "issue_profile",
    "issue_token",
    "parse_lifetime",
    "revoke",
    "revoke_all",
    "rotate",
    "set_retirement",
    "take_secret",
]
ACTIVATED = "has been activated already, and its secret cannot be shown again"

# === Making ===


@transaction.atomic
def issue_token(
    recipient: Recipient, *, lifetime: timedelta, actor: Actor, now: datetime
) -> RecipientToken:
    """Make a token that waits for its activation; others of the recipient stay.

    Raises:
        LifetimeInvalidError: If it would live too long, or not at all.
    """
    token = _new_token(recipient, lifetime=lifetime, actor=actor, now=now)
    report(
        _action("token.issue", token, actor, now, expires_at=_text(token.expires_at))
    )
    return token


@transaction.atomic
def rotate(
    recipient: Recipient,
    *,
    lifetime: timedelta,
    keep_old: timedelta,
    actor: Actor,
    now: datetime,
) -> RecipientToken:
    """Make a token that replaces the recipient's others.

    Those that were activated stay good for `keep_old`, never past their own end; 0 ends
    them at once. Those that were never activated end at once, with their links.

    Raises:
        LifetimeInvalidError: If a span is too long, or not one.
    """
    overlap = timedelta(0) if not keep_old else check_lifetime(keep_old)
    # Of two rotations at once the later one replaces the token of the earlier.
    Recipient.objects.select_for_update().get(id=recipient.id)
    replaced = list(_unended(recipient, now).select_for_update())
    token = _new_token(recipient, lifetime=lifetime, actor=actor, now=now)
    ids = [old.id for old in replaced]
    unended = RecipientToken.objects.filter(id__in=ids)
    unended.filter(token_sha256__isnull=True).update(retires_at=now, replaced_by=token)
    retires_at = now + overlap
    activated = unended.filter(token_sha256__isnull=False)
    ends_sooner = Q(retires_at__isnull=False, retires_at__lte=retires_at)
    activated.filter(ends_sooner).update(replaced_by=token)
    activated.exclude(ends_sooner).update(
        retires_at=Least(F("expires_at"), retires_at), replaced_by=token
    )
    detail = {
        "expires_at": _text(token.expires_at),
        "replaces": [old.prefix for old in replaced],
        "keep_old_s": int(overlap.total_seconds()),
    }
    report(_action("token.rotate", token, actor, now, **detail))
    return token


def _new_token(
    recipient: Recipient, *, lifetime: timedelta, actor: Actor, now: datetime
) -> RecipientToken:
    return RecipientToken.objects.create(
        recipient=recipient,
        prefix=new_prefix(),
        created_at=now,
        created_by_id=actor.user_id,
        created_by_name=actor.name[:200],
        expires_at=now + check_lifetime(lifetime),
    )


# === Handing over ===


@transaction.atomic
def issue_link(
    token: RecipientToken,
    *,
    actor: Actor,
    now: datetime,
    lifetime: timedelta | None = None,
) -> str:
    """Make a link by which the recipient fetches a waiting token, once.

    Older links of the token are withdrawn.

    Returns:
        The absolute URL. It is the only copy: the database has a hash.

    Raises:
        TokenStateError: If the token does not wait for its activation.
    """
    locked = RecipientToken.objects.select_for_update().get(id=token.id)
    _check_waiting(locked, now)
    span = lifetime or timedelta(seconds=settings.ACTIVATION_LINK_LIFETIME_S)
    unused = ActivationLink.objects.filter(
        token=locked, used_at__isnull=True, withdrawn_at__isnull=True
    )
    num_withdrawn = unused.update(withdrawn_at=now)
    nonce = new_nonce()
    link = ActivationLink.objects.create(
        token=locked,
        nonce_sha256=sha256(nonce),
        created_at=now,
        expires_at=min(now + span, locked.ends_at),
    )
    detail = {"expires_at": _text(link.expires_at), "num_withdrawn": num_withdrawn}
    report(_action("link.issue", locked, actor, now, **detail))
    return f"{settings.PUBLIC_URL}/activate/{nonce}"


@transaction.atomic
def issue_profile(
    token: RecipientToken, *, actor: Actor, now: datetime, address: str
) -> Profile:
    """Activate a waiting token at once and return its profile file.

    Raises:
        TokenStateError: If the token does not wait for its activation.
    """
    profile = take_secret(token, address=address, now=now)
    withdraw_links(token, now=now)
    report(_action("token.profile", token, actor, now))
    return profile


def take_secret(token: RecipientToken, *, address: str, now: datetime) -> Profile:
    """Give a waiting token its secret; of two at once one succeeds.

    Raises:
        TokenStateError: If the token does not wait for its activation.
    """
    secret = new_secret(token.prefix)
    taken = RecipientToken.objects.filter(
        Q(retires_at__isnull=True) | Q(retires_at__gt=now),
        id=token.id,
        token_sha256__isnull=True,
        revoked_at__isnull=True,
        expires_at__gt=now,
    ).update(token_sha256=sha256(secret), activated_at=now, activated_from=address[:64])
    token.refresh_from_db()
    if not taken:
        _check_waiting(token, now)
        raise TokenStateError(prefix=token.prefix, reason=ACTIVATED)
    return new_profile(
        recipient_name=token.recipient.name, secret=secret, expires_at=token.ends_at
    )


def withdraw_links(token: RecipientToken, *, now: datetime) -> int:
    """Make the unused links of a token worthless."""
    return ActivationLink.objects.filter(
        token=token, used_at__isnull=True, withdrawn_at__isnull=True
    ).update(withdrawn_at=now)


# === Ending ===


@transaction.atomic
def set_retirement(
    token: RecipientToken, *, retires_at: datetime, actor: Actor, now: datetime
) -> RecipientToken:
    """End a token at a moment: sooner or later than planned, never past its expiry.

    Raises:
        TokenStateError: If the token has ended, or was never activated.
        RetirementInvalidError: If the moment lies past the token's expiry.
    """
    token = RecipientToken.objects.select_for_update().get(id=token.id)
    _check_unended(token, now)
    if retires_at > token.expires_at:
        raise RetirementInvalidError(prefix=token.prefix, expires_at=token.expires_at)
    before = token.retires_at
    token.retires_at = max(retires_at, now)
    token.save(update_fields=["retires_at"])
    detail = {
        "before": None if before is None else _text(before),
        "after": _text(token.retires_at),
    }
    report(_action("token.retire", token, actor, now, **detail))
    return token


@transaction.atomic
def revoke(token: RecipientToken, *, actor: Actor, now: datetime) -> RecipientToken:
    """Make a token and its links worthless from the next request on.

    One that is revoked already stays as it is.
    """
    revoked = RecipientToken.objects.filter(id=token.id, revoked_at__isnull=True)
    if revoked.update(revoked_at=now):
        withdraw_links(token, now=now)
        report(_action("token.revoke", token, actor, now))
    token.refresh_from_db()
    return token


@transaction.atomic
def revoke_all(recipient: Recipient, *, actor: Actor, now: datetime) -> int:
    """Make every token of a recipient worthless; return how many had not ended."""
    tokens = list(_unended(recipient, now).select_for_update())
    for token in tokens:
        revoke(token, actor=actor, now=now)
    return len(tokens)


def _unended(recipient: Recipient, now: datetime) -> QuerySet[RecipientToken]:
    """Return tokens that are good, or that could still become so."""
    return RecipientToken.objects.filter(
        Q(retires_at__isnull=True) | Q(retires_at__gt=now),
        recipient=recipient,
        revoked_at__isnull=True,
        expires_at__gt=now,
    )


def _check_unended(token: RecipientToken, now: datetime) -> None:
    if token.revoked_at is not None:
        raise TokenStateError(prefix=token.prefix, reason="has been revoked")
    if token.ends_at <= now:
        raise TokenStateError(prefix=token.prefix, reason="has expired")


def _check_waiting(token: RecipientToken, now: datetime) -> None:
    _check_unended(token, now)
    if token.token_sha256 is not None:
        raise TokenStateError(prefix=token.prefix, reason=ACTIVATED)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _action(
    name: str, token: RecipientToken, actor: Actor, now: datetime, **detail: object
) -> Action:
    return Action(
        name=name,
        actor=actor,
        at=now,
        recipient=token.recipient.name,
        recipient_id=token.recipient_id,
        token_id=token.id,
        token_prefix=token.prefix,
        detail=detail,
    )
