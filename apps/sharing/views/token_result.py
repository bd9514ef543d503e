"""The page that shows an activation link, once.

It is the answer to the POST that made the link, so the link is held nowhere but in that
answer: no session, message, log or URL of ours. A browser that sends the form again is
told so instead of being given another one.
"""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect

from apps.pages.responses import respond
from apps.sharing.models import ActivationLink
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
    open_links = ActivationLink.objects.filter(token=token, withdrawn_at__isnull=True)
    link_expires_at = open_links.values_list("expires_at", flat=True).get()
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


def repeated(request: HttpRequest, recipient_name: str) -> HttpResponseBase:
    """Answer a form that was sent before: nothing is made, and nothing shown again."""
    messages.info(
        request,
        "That was done already, and its link was shown once. "
        "Make a new link if it is lost.",
    )
    return redirect("sharing:recipient-detail", recipient_name)
