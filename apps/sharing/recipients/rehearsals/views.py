"""The page of rehearsals, below a recipient."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from deltaweb.web.accounts.permissions import admin_required
from deltaweb.web.pages.responses import respond
from deltaweb.web.sharing.names import find_recipient
from deltaweb.web.sharing.recipients.rehearsals.certificates import certificates_of
from deltaweb.web.sharing.recipients.rehearsals.nightly import (
    last_rehearsal,
    request_rehearsal,
)


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def recipient_rehearsals(
    request: HttpRequest, *, name: str, fmt: str
) -> HttpResponseBase:
    """Show how each client last read each table; a form asks for a new rehearsal."""
    recipient = find_recipient(name)
    if request.method == "POST":
        request_rehearsal(recipient, now=timezone.now())
        return redirect("sharing:recipient-rehearsals", recipient.name)
    certificates, job = certificates_of(recipient), last_rehearsal(recipient)
    return respond(
        request,
        fmt,
        template="sharing/recipient_rehearsals.html",
        context={
            "recipient": recipient,
            "certificates": certificates,
            "num_passed": sum(one.has_passed for one in certificates),
            "job": job,
        },
        data={
            "recipient": recipient.name,
            "certificates": certificates,
            "job": None if job is None else job.id,
        },
        fragment="rehearsed",
    )
