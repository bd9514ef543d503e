"""A new token and what hands it out, its link or its profile file: all or nothing."""

from collections.abc import Callable
from datetime import timedelta

from django.db import transaction

from apps.pages.actions import Stamp
from apps.sharing.issuing import tokens
from apps.sharing.issuing.profile import ProfileFile, profile_of
from apps.sharing.issuing.proofs import BEARER, Proof
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Recipient, RecipientToken

# Puts a profile file where it belongs, in the place of a link. It runs inside the
# transaction: if it fails, no token stays whose secret nobody has.
Deliver = Callable[[ProfileFile], None]


@transaction.atomic
def issue(
    recipient: Recipient,
    *,
    proof: Proof = BEARER,
    lifetime: timedelta,
    deliver: Deliver | None = None,
    stamp: Stamp,
) -> Credentials:
    """Make one more token or OAuth client and hand it out."""
    token = tokens.issue_token(recipient, proof=proof, lifetime=lifetime, stamp=stamp)
    return _deliver(token, deliver, stamp=stamp)


@transaction.atomic
def rotate(  # noqa: PLR0913 (each is one part of what is asked)
    recipient: Recipient,
    *,
    proof: Proof = BEARER,
    lifetime: timedelta,
    keep_old: timedelta,
    deliver: Deliver | None = None,
    stamp: Stamp,
) -> Credentials:
    """Make a token that replaces the others of its kind, and hand it out."""
    token = tokens.rotate(
        recipient, proof=proof, lifetime=lifetime, keep_old=keep_old, stamp=stamp
    )
    return _deliver(token, deliver, stamp=stamp)


def _deliver(
    token: RecipientToken, deliver: Deliver | None, *, stamp: Stamp
) -> Credentials:
    if token.activated_at is not None:  # no secret is kept from us
        if deliver is not None:
            deliver(profile_of(token))
        return Credentials(token=token)
    if deliver is None:
        return tokens.issue_link(token, stamp=stamp)
    deliver(tokens.issue_profile(token, stamp=stamp))
    return Credentials(token=token)
