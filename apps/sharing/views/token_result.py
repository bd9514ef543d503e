"""The page that shows an activation link, once.

It is the answer to the POST that made the link, so the link is held nowhere but in that
answer: no session, message, log or URL of ours. A browser that sends the form again is
told so instead of being given another one.
"""

from collections.abc import Sequence
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from apps.pages.responses import respond
from apps.sharing.models import ActivationLink, Share
from apps.sharing.profile import profile_file_name
from apps.sharing.services.handover import Handover
from apps.sharing.views import once


def show_handover(
    request: HttpRequest, fmt: str, made: Handover, *, is_new: bool = False
) -> HttpResponseBase:
    """Render the link; no cache may keep the answer.

    Args:
        request: The POST that made it.
        fmt: "html" or "json".
        made: The token and its link.
        is_new: Whether the recipient was made in the same step.
    """
    token = made.token
    link_expires_at = _expiry(made)
    response = respond(
        request,
        fmt,
        template="sharing/token_result.html",
        context={
            "recipient": token.recipient,
            "token": token,
            "link": made.link,
            "link_expires_at": link_expires_at,
            "is_new": is_new,
            "file_name": profile_file_name(token.recipient.name),
            "replaced": list(token.replaces.all()),
            "once": once.new_key(),
        },
        data={
            "recipient": token.recipient.name,
            "token": token.prefix,
            "expires_at": token.expires_at,
            "activation_link": made.link,
            "link_expires_at": link_expires_at,
        },
        status=201,
    )
    response["Cache-Control"] = "no-store"
    return response


def show_links(
    request: HttpRequest, share: Share, made: Sequence[Handover], *, said: str
) -> HttpResponseBase:
    """Render the links of the recipients that were made with a share.

    Args:
        request: The POST that made them.
        share: What they read.
        made: Their tokens and links.
        said: What was made, as a sentence.
    """
    response = respond(
        request,
        "html",
        template="sharing/share_made.html",
        context={
            "share": share,
            "said": said,
            "made": [
                {"link": one.link, "token": one.token, "expires_at": _expiry(one)}
                for one in made
            ],
        },
        data={"share": share.name, "num_recipients": len(made)},
        status=201,
    )
    response["Cache-Control"] = "no-store"
    return response


def _expiry(made: Handover) -> datetime:
    """Return when a link that was just made closes."""
    links = ActivationLink.objects.filter(token=made.token, withdrawn_at__isnull=True)
    return links.values_list("expires_at", flat=True).get()


def repeated(request: HttpRequest, recipient_name: str) -> HttpResponseBase:
    """Answer a form that was sent before: nothing is made, and nothing shown again."""
    messages.info(
        request,
        "That was done already, and its link was shown once. "
        "Make a new link if it is lost.",
    )
    return redirect("sharing:recipient-detail", recipient_name)
