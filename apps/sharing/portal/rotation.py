"""The rotation of a token by the recipient itself, where the provider allows it."""

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.http import HttpRequest, HttpResponseBase

from apps.pages.actions import Actor, Stamp
from apps.sharing.errors import RotationRefusedError
from apps.sharing.issuing.lifetimes import max_lifetime
from apps.sharing.issuing.token_result import profile_response
from apps.sharing.issuing.tokens import rotate, take_secret
from apps.sharing.models import Recipient, RecipientToken
from apps.sharing.portal.visit import Visit, shown, visitors_page

KEEP_OLD: Final = timedelta(hours=24)  # that tokens stay which are replaced
ACTION: Final = "portal.rotate"


@visitors_page(ACTION)
def ask(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Say what a rotation does, with the button that does it."""
    visit.record.is_recorded = False  # nothing is changed
    context = {"refusal": refusal_of(visit.token, visit), "keep_old": KEEP_OLD}
    return shown(request, "rotate.html", context, visit=visit)


@visitors_page(ACTION, posts=True)
def rotate_now(request: HttpRequest, visit: Visit) -> HttpResponseBase:
    """Replace the tokens of the recipient, and answer with the new profile file."""
    del request
    record = visit.record
    with transaction.atomic():
        # Of two forms at once the second one finds a token that was replaced.
        Recipient.objects.select_for_update(no_key=True).get(id=visit.recipient.id)
        token = RecipientToken.objects.select_related("recipient").get(
            id=visit.token.id
        )
        if refusal := refusal_of(token, visit):
            raise RotationRefusedError(reason=refusal)
        stamp = Stamp(
            Actor(
                name=f"{token.recipient.name} (in the browser)",
                address=record.address,
                user_agent=record.user_agent,
            ),
            visit.now,
        )
        lifetime = min(token.lifetime, max_lifetime())
        new = rotate(token.recipient, lifetime=lifetime, keep_old=KEEP_OLD, stamp=stamp)
        profile = take_secret(new, address=record.address, now=visit.now)
    record.detail["token"] = new.prefix
    return profile_response(profile)


def refusal_of(token: RecipientToken, visit: Visit) -> str:
    """Return why a token cannot be rotated by its recipient; "" if it can."""
    if not token.recipient.may_rotate:
        return "the provider does not allow it"
    if token.kind != RecipientToken.Kind.BEARER:
        return "you read with an OAuth client"
    match token.state(visit.now):
        case RecipientToken.State.WAITING:
            return "its profile was not downloaded yet"
        case RecipientToken.State.ACTIVE:
            return ""
    return "it was replaced by a newer one"
