"""The page of the connection doctor, below a recipient."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone

from apps.accounts.permissions import admin_required, signed_in
from apps.jobs.waiting import wait_a_glance
from apps.pages.responses import respond
from apps.sharing.names import find_recipient
from apps.sharing.recipients.doctor.doctor import (
    Diagnosis,
    Examination,
    diagnose,
    last_examination,
    request_examination,
)

TEMPLATE: Final = "sharing/recipients/recipient_doctor.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionPage:
    """What is known of the way from a recipient's client to its rows.

    Attributes:
        examination: The last examination that has ended.
        diagnosis: The explanation of an error that was just sent, which is not stored.
        job: The id of the job of the last examination.
    """

    recipient: str
    examination: Examination | None
    diagnosis: Diagnosis | None
    job: UUID | None


@admin_required
def recipient_doctor(request: HttpRequest, *, name: str, fmt: str) -> HttpResponseBase:
    """Show the last examination; a form asks for a new one, or brings an error.

    What somebody pastes is answered at once and never again: no address has it.
    """
    recipient = find_recipient(name)
    now = timezone.now()
    diagnosis: Diagnosis | None = None
    if request.method == "POST":
        text = request.POST.get("error")
        if text is None:
            user = signed_in(request)
            wait_a_glance(request_examination(recipient, requested_by=user, now=now))
            return redirect("sharing:recipient-doctor", recipient.name)
        diagnosis = diagnose(recipient, text, now=now)
    job, examination = last_examination(recipient)
    shown = ConnectionPage(
        recipient=recipient.name,
        examination=examination,
        diagnosis=diagnosis,
        job=job.id if job else None,
    )
    answer = respond(
        request,
        fmt,
        template=TEMPLATE,
        context={
            "recipient": recipient,
            "job": job,
            "examination": examination,
            "diagnosis": diagnosis,
        },
        data=shown,
        fragment="examined",
    )
    answer["Cache-Control"] = "no-store"
    return answer
