"""What hands a token out: the page that shows a link, once, or the profile file.

It is the answer to the POST that made the link, so the link is held nowhere but in that
answer: no session, message, log or URL. A form that a browser sends again makes no
other link (see `apps.pages.changes.once`).
"""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.http import content_disposition_header

from apps.pages.changes import once
from apps.pages.responses import respond
from apps.sharing.issuing.profile import ProfileFile, profile_file_name
from apps.sharing.issuing.tokens import Credentials
from apps.sharing.models import Share


def show_credentials(
    request: HttpRequest, fmt: str, made: Credentials, *, is_new: bool = False
) -> HttpResponseBase:
    """Render the link; no cache may keep the answer.

    Args:
        is_new: Whether the recipient was made in the same step.
    """
    token = made.token
    response = respond(
        request,
        fmt,
        template="sharing/issuing/token_result.html",
        context={
            "recipient": token.recipient,
            "token": token,
            "link": made.link,
            "link_expires_at": made.link_expires_at,
            "is_new": is_new,
            "file_name": profile_file_name(token.recipient.name),
            "replaced": list(token.replaces.all()),
            "once": once.new_key(),
        },
        data={
            "recipient": token.recipient.name,
            "token": token.prefix,
            "kind": token.kind.lower(),
            "expires_at": token.expires_at,
            "activation_link": made.link,
            "link_expires_at": made.link_expires_at,
        },
        status=201,
    )
    response["Cache-Control"] = "no-store"
    return response


def show_links(
    request: HttpRequest, share: Share, made: Sequence[Credentials], *, said: str
) -> HttpResponseBase:
    """Render the links of the recipients that were made with a share."""
    response = respond(
        request,
        "html",
        template="sharing/issuing/share_made.html",
        context={
            "share": share,
            "said": said,
            "made": made,
        },
        data={"share": share.name, "num_recipients": len(made)},
        status=201,
    )
    response["Cache-Control"] = "no-store"
    return response


def profile_response(profile: ProfileFile) -> HttpResponse:
    """Answer with a profile file; no cache may keep it."""
    response = HttpResponse(profile.to_json(), content_type="application/json")
    disposition = content_disposition_header(
        as_attachment=True, filename=profile.file_name
    )
    response["Content-Disposition"] = disposition or "attachment"
    response["Cache-Control"] = "no-store"
    return response
