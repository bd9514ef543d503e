"""The page of rehearsals, below a recipient."""

from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase

from apps.pages.request.changes import ChangeForm
from apps.pages.responses import respond
from apps.sharing.models import Recipient
from apps.sharing.recipients.rehearsals.certificates import (
    CertificateResource,
    certificates_of,
)
from apps.sharing.recipients.rehearsals.client_program import (
    CLIENTS,
    DIRECTORY,
)
from apps.sharing.recipients.rehearsals.nightly import (
    REHEARSE_RECIPIENT,
    last_rehearsal,
)
from apps.sharing.recipients.rehearsals.rehearsal import Untried, untried


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalsPage:
    """How each client last read each table of a recipient.

    Attributes:
        certificates: The results, by table.
        job: The id of the job of the last rehearsal.
        missing: Clients without a result, because they are not installed.
        untried: Ways to read tables that rehearsals do not test.
    """

    recipient: str
    certificates: list[CertificateResource]
    job: UUID | None
    missing: list[str]
    untried: list[Untried]

    @property
    def num_passed(self) -> int:
        return sum(one.has_passed for one in self.certificates)


def recipient_rehearsals(
    request: HttpRequest, recipient: Recipient, *, fmt: str, form: ChangeForm | None
) -> HttpResponseBase:
    """Show how each client last read each table; a form requests a new rehearsal."""
    del form  # it has no field
    job = last_rehearsal(recipient)
    certificates = certificates_of(recipient)
    there = {one.client for one in certificates}
    held = REHEARSE_RECIPIENT.found(job)
    if held is None or DIRECTORY not in held.missing:
        there.add(DIRECTORY)  # it reads folders alone, and there may be none
    shown = RehearsalsPage(
        recipient=recipient.name,
        certificates=certificates,
        job=None if job is None else job.id,
        missing=[one for one in CLIENTS if certificates and one not in there],
        untried=untried(recipient),
    )
    return respond(
        request,
        fmt,
        template="sharing/recipients/recipient_rehearsals.html",
        context={"recipient": recipient, "page": shown, "job": job},
        data=shown,
        fragment="rehearsed",
    )
