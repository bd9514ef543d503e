"""What administrators ask of tokens: issue, hand out, rotate, end, revoke.

The secret of a token is made when its profile is fetched and never before, so what
waits for its activation holds nothing that could leak.
"""

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Least

from apps.accounts.tokens import sha256
from apps.pages.actions import Stamp, report
from apps.sharing.activity.actions import action_on
from apps.sharing.errors import (
    NoWaitingTokenError,
    RetirementInvalidError,
    TokenStateError,
)
from apps.sharing.issuing.lifetimes import check_lifetime
from apps.sharing.issuing.profile import ProfileFile, profile_of
from apps.sharing.issuing.proofs import BEARER, Proof, check_free
from apps.sharing.models import ActivationLink, Recipient, RecipientToken

MARK: Final = "dwt_"  # lets a secret scanner recognise one of our tokens
_PREFIX_BYTES: Final = 4
_SECRET_BYTES: Final = 32
_ACTIVATED: Final = "has been activated already, and its secret cannot be shown again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A new token and its activation link, which is shown once and kept nowhere.

    Attributes:
        link: The absolute URL. It is the only copy: the database has a hash. Empty if
            the profile file was handed out instead.
    """

    token: RecipientToken
    link: str = field(default="", repr=False)
    link_expires_at: datetime | None = None


def new_prefix() -> str:
    """Return what may be shown of a token: the mark and 8 hexadecimal digits."""
    return MARK + secrets.token_hex(_PREFIX_BYTES)


def new_secret(prefix: str) -> str:
    """Return a whole token: its prefix and 256 random bits as 43 characters."""
    return prefix + secrets.token_urlsafe(_SECRET_BYTES)


def new_nonce() -> str:
    """Return the random part of an activation link: 256 bits as 43 characters."""
    return secrets.token_urlsafe(_SECRET_BYTES)


# === Making ===


@transaction.atomic
def issue_token(
    recipient: Recipient, *, proof: Proof = BEARER, lifetime: timedelta, stamp: Stamp
) -> RecipientToken:
    """Make a token or an OAuth client; others of the recipient stay.

    One with a secret waits for its activation.
    """
    token = _new_token(recipient, proof, lifetime=lifetime, stamp=stamp)
    detail = {"expires_at": _text(token.expires_at), **proof.describe()}
    report(action_on("token.issue", stamp, token, **detail))
    return token


@transaction.atomic
def rotate(
    recipient: Recipient,
    *,
    proof: Proof = BEARER,
    lifetime: timedelta,
    keep_old: timedelta,
    stamp: Stamp,
) -> RecipientToken:
    """Make a token that replaces the recipient's others of its kind.

    Those that were activated stay good for `keep_old`, never past their own end; 0 ends
    them at once. Those that were never activated end at once, with their links.
    """
    overlap = timedelta(0) if not keep_old else check_lifetime(keep_old)
    # Of two rotations at once the later one replaces the token of the earlier.
    Recipient.objects.select_for_update(no_key=True).get(id=recipient.id)
    unended_of_kind = recipient.tokens.unended(stamp.at).filter(kind=proof.kind)
    replaced = list(unended_of_kind.select_for_update())
    token = _new_token(recipient, proof, lifetime=lifetime, stamp=stamp)
    ids = [old.id for old in replaced]
    unended = RecipientToken.objects.filter(id__in=ids)
    unended.filter(activated_at__isnull=True).update(
        retires_at=stamp.at, replaced_by=token
    )
    retires_at = stamp.at + overlap
    activated = unended.filter(activated_at__isnull=False)
    ends_sooner = Q(retires_at__isnull=False, retires_at__lte=retires_at)
    activated.filter(ends_sooner).update(replaced_by=token)
    activated.exclude(ends_sooner).update(
        retires_at=Least(F("expires_at"), retires_at), replaced_by=token
    )
    detail = {
        "expires_at": _text(token.expires_at),
        "replaces": [old.prefix for old in replaced],
        "keep_old_s": int(overlap.total_seconds()),
        **proof.describe(),
    }
    report(action_on("token.rotate", stamp, token, **detail))
    return token


def _new_token(
    recipient: Recipient, proof: Proof, *, lifetime: timedelta, stamp: Stamp
) -> RecipientToken:
    check_free(proof, recipient, now=stamp.at)
    return RecipientToken.objects.create(
        recipient=recipient,
        prefix=new_prefix(),
        **proof.columns(),
        activated_at=None if proof.has_secret else stamp.at,
        created_at=stamp.at,
        created_by_id=stamp.actor.user_id,
        created_by_name=stamp.actor.name[:200],
        expires_at=stamp.at + check_lifetime(lifetime),
    )


def token_of_nobody(recipient: Recipient, *, now: datetime) -> RecipientToken:
    """Return a token that is not kept, to ask for what a recipient is answered."""
    return RecipientToken(recipient=recipient, expires_at=now)


# === Handing out ===


@transaction.atomic
def issue_link(token: RecipientToken, *, stamp: Stamp) -> Credentials:
    """Make a link by which the recipient fetches a waiting token, once.

    Older links of the token are withdrawn.
    """
    locked = RecipientToken.objects.select_for_update().get(id=token.id)
    _check_waiting(locked, stamp.at)
    span = timedelta(seconds=settings.ACTIVATION_LINK_LIFETIME_S)
    num_withdrawn = withdraw_links(locked, now=stamp.at)
    nonce = new_nonce()
    link = ActivationLink.objects.create(
        token=locked,
        nonce_sha256=sha256(nonce),
        created_at=stamp.at,
        expires_at=min(stamp.at + span, locked.ends_at),
    )
    detail = {"expires_at": _text(link.expires_at), "num_withdrawn": num_withdrawn}
    report(action_on("link.issue", stamp, locked, **detail))
    url = f"{settings.PUBLIC_URL}/activate/{nonce}"
    return Credentials(token=token, link=url, link_expires_at=link.expires_at)


@transaction.atomic
def issue_profile(token: RecipientToken, *, stamp: Stamp) -> ProfileFile:
    """Activate a waiting token at once and return its profile file."""
    profile = take_secret(token, address=stamp.actor.address, now=stamp.at)
    withdraw_links(token, now=stamp.at)
    report(action_on("token.profile", stamp, token))
    return profile


def take_secret(token: RecipientToken, *, address: str, now: datetime) -> ProfileFile:
    """Give a waiting token its secret; of two at once one succeeds."""
    secret = new_secret(token.prefix)
    taken = RecipientToken.all_tokens.waiting(now).filter(id=token.id)
    if not taken.update(
        token_sha256=sha256(secret), activated_at=now, activated_from=address[:64]
    ):
        token.refresh_from_db()
        _check_waiting(token, now)
        raise TokenStateError(prefix=token.prefix, reason=_ACTIVATED)
    token.refresh_from_db()
    return profile_of(token, secret=secret)


def waiting_token(recipient: Recipient, *, now: datetime) -> RecipientToken:
    """Return the newest token that waits for its activation."""
    token = recipient.tokens.waiting(now).select_related("recipient").first()
    if token is None:
        raise NoWaitingTokenError(name=recipient.name)
    return token


def withdraw_links(token: RecipientToken, *, now: datetime) -> int:
    """Make the unused links of a token worthless."""
    return ActivationLink.objects.filter(
        token=token, used_at__isnull=True, withdrawn_at__isnull=True
    ).update(withdrawn_at=now)


# === Ending ===


@transaction.atomic
def set_retirement(
    token: RecipientToken, *, retires_at: datetime, stamp: Stamp
) -> RecipientToken:
    """End a token at a moment: sooner or later than planned, never past its expiry.

    Only one that is in use: a token that waits for its activation, and its links with
    it, can be revoked.
    """
    token = RecipientToken.objects.select_for_update().get(id=token.id)
    _check_unended(token, stamp.at)
    if token.activated_at is None:
        raise TokenStateError(
            prefix=token.prefix,
            reason=("waits for its activation, so its end cannot change"),
        )
    if retires_at > token.expires_at:
        raise RetirementInvalidError(prefix=token.prefix, latest=token.expires_at)
    before = token.retires_at
    token.retires_at = max(retires_at, stamp.at)
    token.save(update_fields=["retires_at"])
    detail = {
        "before": None if before is None else _text(before),
        "after": _text(token.retires_at),
    }
    report(action_on("token.retire", stamp, token, **detail))
    return token


@transaction.atomic
def revoke(token: RecipientToken, *, stamp: Stamp) -> RecipientToken:
    """Make a token and its links worthless from the next request on.

    One that is revoked already stays as it is.
    """
    revoked = RecipientToken.all_tokens.filter(id=token.id, revoked_at__isnull=True)
    if revoked.update(revoked_at=stamp.at):
        withdraw_links(token, now=stamp.at)
        report(action_on("token.revoke", stamp, token))
    token.refresh_from_db()
    return token


@transaction.atomic
def revoke_all(recipient: Recipient, *, stamp: Stamp) -> int:
    """Make every token of a recipient worthless; return how many had not ended.

    Those of stand-ins end as well.
    """
    tokens_of = RecipientToken.all_tokens.filter(recipient=recipient)
    tokens = list(tokens_of.unended(stamp.at).select_for_update())
    for token in tokens:
        revoke(token, stamp=stamp)
    return len(tokens)


def _check_unended(token: RecipientToken, now: datetime) -> None:
    if token.revoked_at is not None:
        raise TokenStateError(prefix=token.prefix, reason="has been revoked")
    if token.ends_at <= now:
        raise TokenStateError(prefix=token.prefix, reason="has expired")


def _check_waiting(token: RecipientToken, now: datetime) -> None:
    _check_unended(token, now)
    if token.activated_at is not None:
        raise TokenStateError(prefix=token.prefix, reason=_ACTIVATED)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
