"""The pages that add data: looked at, agreed to, done; then the table is opened.

A page of this kind belongs to nobody but who asked: its jobs are found by their id and
by the person.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from deltaweb.web.jobs.models import Job
from deltaweb.web.tables.head.agreement import AgreementPage
from deltaweb.web.tables.head.shapes import signed_in
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.roots import roots_for

P = TypeVar("P")

More = Callable[[HttpRequest, P | None, Mapping[str, Any] | None], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class AddingPage(AgreementPage[P]):
    """What a page says of its operation.

    Attributes:
        slug: By which its parts of the template are found, and its tab.
        read: Makes parameters of the form and the request; it may raise `DeltaError`.
        more: What else the template gets, by the parameters and the look.
    """

    template: ClassVar[str] = "tables/table_adding.html"
    parts: ClassVar[str] = "tables/adding"

    slug: str
    read: Callable[[HttpRequest, Mapping[str, Any], Table | None], P]
    more: More[P]

    @property
    def name(self) -> str:
        """Its slug."""
        return self.slug

    def address(self, table: Table | None) -> str:
        """Return where the page is: of a table, or of one that is to be made."""
        if table is None:
            return reverse(f"tables:table-new-{self.slug}")
        return reverse(f"tables:table-{self.slug}", args=[table.namespace, table.name])

    def read_form(
        self, request: HttpRequest, values: Mapping[str, Any], table: Table | None
    ) -> P:
        """Return the parameters of a form and what came with it."""
        return self.read(request, values, table)

    def jobs(self, request: HttpRequest, table: Table | None) -> QuerySet[Job]:
        """Return the jobs that this person asked for; another's is none."""
        return Job.objects.filter(
            kind=self.operation.kind,
            requested_by=signed_in(request),
            subject_id=table.id if table else None,
        )

    def context(
        self,
        request: HttpRequest,
        table: Table | None,
        asked: P | None,
        result: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """Return where tables may lie, and what the operation adds."""
        del table
        roots = roots_for(signed_in(request))
        return {"roots": roots, **self.more(request, asked, result)}

    def leave(
        self, request: HttpRequest, table: Table | None, result: Mapping[str, Any]
    ) -> HttpResponseBase:
        """Open the table that was made, or has new rows."""
        if table is None:
            table = Table.objects.filter(
                namespace=result["namespace"], name=result["name"]
            ).first()
        address = table.get_absolute_url() if table else reverse("tables:table-list")
        version = f" as version {result['version']}" if result.get("version") else ""
        messages.success(request, f"Done{version}.")
        if "HX-Request" in request.headers:
            return HttpResponse(headers={"HX-Redirect": address})
        return redirect(address)
