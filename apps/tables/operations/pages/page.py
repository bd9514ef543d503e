"""What the page of an operation says: its form, its words, and whose jobs it shows.

The template has the frame, and finds the parts of an operation by its name:
`_<name>_form.html` asks, or else `_form.html` does, of a form that is made of the
parameters; `_<name>_preview.html` shows what would happen and has the button;
`_done.html` says what was done, in the words of the operation, unless there is a
`_<name>_done.html`. Pages of a table show the newest job of the table; those that add
data belong to who asked, and open the table at the end.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from apps.accounts.permissions import signed_in
from apps.accounts.zones import user_zone_name
from apps.jobs.kind import to_json
from apps.jobs.models import Job
from apps.tables.errors import OperationOutdatedError
from apps.tables.head.job_json import check_may
from apps.tables.head.table_head import TableHead, table_head
from apps.tables.index.refresh import REFRESH
from apps.tables.models import Commit, Table
from apps.tables.operations.operation import Operation
from apps.tables.operations.preview_jobs import is_preview
from apps.tables.operations.stored import StoredPreview, StoredResult
from apps.tables.storage.roots import roots_for
from deltaweb.delta.writing.transaction import CommitResult


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeVersion:
    """A version that an operation made.

    Attributes:
        is_indexed: Whether pages know it.
        has_changes: Whether the change data feed tells which rows it changed.
        has_rows: Whether its rows can be compared with those of the version before.
        num_later: How many versions came after it, as far as is known.
    """

    version: int
    is_indexed: bool
    has_changes: bool = False
    has_rows: bool = False
    num_later: int = 0

    @property
    def before(self) -> int:
        """The version that an undo brings back; -1 before the first one."""
        return self.version - 1


def made_version(head: TableHead, result: CommitResult | None) -> MadeVersion | None:
    """Return the version that an operation committed; None where it made nothing."""
    if result is None or not result.attempts:
        return None
    version = result.version
    if version is None:
        return None
    commit = head.table.commits.filter(version=version).first()
    newest = head.table.version
    if commit is None or newest is None or newest < version:
        return MadeVersion(version=version, is_indexed=False)
    metadata = head.table.metadata_versions.filter(version__lte=version).first()
    changes_rows = commit.changes_files and commit.data_change
    return MadeVersion(
        version=version,
        is_indexed=True,
        has_changes=commit.is_in_feed(metadata),
        has_rows=changes_rows and commit.readability != Commit.Readability.GONE,
        num_later=newest - version,
    )


@dataclass(frozen=True, slots=True)
class PickedVersion:
    """A version that a form offers, with its commit if the index has it."""

    version: int
    commit: Commit | None


def versions_to_pick(head: TableHead, chosen: int | None) -> list[PickedVersion]:
    """Return the newest versions and the chosen one, the newest first."""
    commits: dict[int, Commit | None] = {one.version: one for one in head.newest}
    if chosen is not None and chosen not in commits:
        found = head.table.commits.filter(version=chosen)
        commits[chosen] = found.defer("parameters", "metrics").first()
    return [PickedVersion(one, commits[one]) for one in sorted(commits, reverse=True)]


if TYPE_CHECKING:
    from django.contrib.messages.storage.base import BaseStorage

MAX_DIGITS: Final = 19  # of a version
P = TypeVar("P")
D = TypeVar("D")
R = TypeVar("R")

AnyPage: TypeAlias = "OperationPage[Any, Any, Any]"
Read = Callable[[HttpRequest, Mapping[str, Any], Table | None], P]


class ShownForm(forms.Form):
    """Which job the page shows, and which preview somebody agrees to; none looks."""

    job = forms.UUIDField(required=False)
    seen = forms.UUIDField(required=False)


@dataclass(frozen=True, slots=True)
class ShownJobs:
    """The job that a page shows, and the one that was refused before it."""

    job: Job | None = None
    outdated: Job | None = None


def named_job(request: HttpRequest) -> UUID | None:
    """Return the job that the address names."""
    form = ShownForm(request.GET)
    return form.cleaned_data["job"] if form.is_valid() else None


@dataclass(frozen=True, kw_only=True)
class OperationPage(Generic[P, D, R]):
    """What a page says of its operation.

    Attributes:
        form: What is asked before the preview.
        choice: What is chosen after the preview, of the parameters.
        shows: Makes values of the form from parameters.
        read: Makes parameters of the form's values, by the request and the table; it
            may raise `DeltaError`. None where they are named alike.
        check: Refuses at once, by what the database knows, what a worker would refuse.
        more: What else the template gets, by the request, the parameters and the
            preview.
        more_of_table: The same by the head of the table's pages, and the preview or
            the result.
        weigh: The same of what is chosen after the preview, by the query.
        adds: By which the address and the parts of a page that adds data are found;
            "" of all others.
        shown_as: By which the part is found that shows what would happen, where several
            operations share it.
        says: What follows, beside the button that agrees.
        below: A template of what stands below the form; none for an empty one.
        is_undone: Whether an undo takes back what it did.
        previews_at_once: Whether the page Maintenance asks for a preview with the
            defaults. Planning has to read the log only.
        picks: The parameter that the timeline of the head picks; "" for none.
    """

    operation: Operation[P, Any, D, R]
    form: type[forms.Form]
    heading: str
    about: str
    failed: str
    choice: type[forms.Form] | None = None
    shows: Callable[[P], Mapping[str, Any]] = to_json
    read: Read[P] | None = None
    check: Callable[[Table, P], None] = lambda _table, _asked: None
    more: Callable[
        [HttpRequest, P | None, StoredPreview[D] | None], Mapping[str, Any]
    ] = field(default=lambda _request, _asked, _look: {})
    more_of_table: Callable[
        [TableHead, StoredPreview[D] | StoredResult[R] | None], Mapping[str, Any]
    ] = field(default=lambda _head, _shown: {})
    weigh: Callable[[Mapping[str, str], StoredPreview[D]], Mapping[str, Any]] = field(
        default=lambda _query, _look: {}
    )
    adds: str = ""
    shown_as: str = ""
    icon: str = ""
    preview_words: str = "Show what would happen"
    says: str = ""
    does: str = ""
    below: str = ""
    is_undone: bool = True
    previews_at_once: bool = False
    picks: str = ""

    # === Its templates and its address ===

    @property
    def name(self) -> str:
        """By which its parts of the template are found."""
        return self.adds or self.operation.name

    @property
    def slug(self) -> str:
        """Its part of the address, and of the URL name."""
        return self.adds or self.operation.page.removeprefix("tables:table-")

    @property
    def template(self) -> str:
        return f"{self.parts}/table_{'adding' if self.adds else 'operation'}.html"

    @property
    def parts(self) -> str:
        """The folder of the templates of what is asked, shown and done."""
        return f"tables/{'adding' if self.adds else 'operations'}"

    @property
    def form_part(self) -> list[str]:
        """The template of the fields: its own, else that of every made form."""
        return [f"{self.parts}/_{self.name}_form.html", "tables/operations/_form.html"]

    @property
    def preview_part(self) -> str:
        """The template of what would happen."""
        return f"{self.parts}/_{self.shown_as or self.name}_preview.html"

    @property
    def done_part(self) -> list[str]:
        """The template of what was done: its own, else that of every operation."""
        return [f"{self.parts}/_{self.name}_done.html", "tables/operations/_done.html"]

    @property
    def takes(self) -> list[str | type[forms.Form]]:
        """The parameters of its address: the head's, which job, values of its forms."""
        return ["v", ShownForm, self.form, *([self.choice] if self.choice else ())]

    def address(self, table: Table | None) -> str:
        """Return where the page is."""
        if table is None:
            return reverse(f"tables:table-new-{self.slug}")
        return reverse(f"tables:table-{self.slug}", args=[table.namespace, table.name])

    # === What is asked ===

    def admit(self, table: Table | None) -> None:
        """Refuse whatever is asked of a table that is not indexed yet."""
        if table is not None and not self.adds:
            check_may(table, table.version)

    def read_form(
        self, request: HttpRequest, values: Mapping[str, Any], table: Table | None
    ) -> P:
        """Return the parameters of a form's values, checked by the newest version."""
        if self.read is None:
            asked = self.operation.parameters(**values)
        else:
            asked = self.read(request, values, table)
        if self.adds or table is None:
            return asked
        if hasattr(asked, "time_zone"):  # what is typed is of who types it
            zone = user_zone_name(request.user)
            asked = replace(asked, time_zone=zone)  # type: ignore[type-var]  # a dataclass
        if _is_current(table):
            self.check(table, asked)
        return asked

    # === What is shown ===

    def jobs(self, request: HttpRequest, table: Table | None) -> QuerySet[Job]:
        """Return the jobs that the page may show, the newest first.

        Of a table they are whoever's who asked; what adds data is of who asked for it.
        Those of releases before this operation was one have another form.
        """
        jobs = Job.objects.filter(
            kind=self.operation.kind,
            subject_id=table.id if table else None,
            parameters__has_key="asked",
        )
        if self.adds:
            jobs = jobs.filter(requested_by=signed_in(request))
        return jobs.defer("log", "error_detail").order_by("-created_at", "-id")

    def picked(self, request: HttpRequest, table: Table | None) -> int | None:
        """Return the version that the address picks; None if it picks none."""
        if not self.picks or table is None or table.version is None:
            return None
        text = request.GET.get("v") or request.GET.get(self.picks) or ""
        is_number = text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
        version = int(text) if is_number else -1
        return version if 0 <= version <= table.version else None

    def shown(self, request: HttpRequest, table: Table | None) -> ShownJobs:
        """Return the job that the page shows, and the one that was refused before it.

        It is the one that the address names; of a table else the newest, unless the
        address brings parameters: then the page asks. What was refused since it was no
        longer what was shown is followed by the preview of what would happen now.
        """
        wanted, jobs = named_job(request), self.jobs(request, table)
        is_asking = any(name in request.GET for name in self.form.base_fields) or (
            self.picked(request, table) is not None
        )
        if wanted is None and (self.adds or is_asking):
            return ShownJobs()
        job = jobs.filter(id=wanted).first() if wanted else jobs.first()
        if job is None or self.adds:
            return ShownJobs(job)
        if job.error_code == OperationOutdatedError.code:
            later = jobs.filter(created_at__gt=job.created_at)
            look = next((one for one in later.reverse() if is_preview(one)), None)
            return ShownJobs(look or job, job if look else None)
        if not is_preview(job):
            return ShownJobs(job)
        before = jobs.filter(created_at__lt=job.created_at).first()
        is_refused = before and before.error_code == OperationOutdatedError.code
        return ShownJobs(job, before if is_refused else None)

    def context(
        self,
        request: HttpRequest,
        table: Table | None,
        asked: P | None,
        look: StoredPreview[D] | None,
        done: StoredResult[R] | None,
    ) -> dict[str, Any]:
        """Return what else the template gets, by the job that is shown."""
        more = {**self.more(request, asked, look)}
        if self.adds:
            more["roots"] = roots_for(signed_in(request))
        if table is None:
            return more
        picked = self.picked(request, table)
        head = table_head(table, picked)
        chosen = getattr(asked, self.picks, None) if picked is None else picked
        return {
            "head": head,
            "zone_of_sql": user_zone_name(request.user),
            "zone_asked": getattr(asked, "time_zone", ""),
            "made": made_version(head, done.commit if done else None),
            "newer": _newer(head, look),
            "versions": versions_to_pick(head, chosen) if self.picks else (),
            **more,
            **self.more_of_table(head, look or done),
            **(self.weigh(request.GET, look) if look else {}),
        }

    def leave(
        self, request: HttpRequest, table: Table | None, done: StoredResult[R]
    ) -> HttpResponseBase | None:
        """Open the table that was made; None stays and shows what was done."""
        if not self.adds or table is not None:
            return None
        address, version = reverse("tables:table-list"), ""
        if made := done.made:
            tables = Table.objects.filter(namespace=made.namespace, name=made.name)
            found = tables.first()
            address = found.get_absolute_url() if found else address
            version = f" as version {made.version}" if made.version else ""
        _say_once(request, f"Done{version}.")
        if "HX-Request" in request.headers:
            return HttpResponse(headers={"HX-Redirect": address})
        return redirect(address)


def _say_once(request: HttpRequest, text: str) -> None:
    """Say that a job is done, unless it waits to be said: a live part may ask twice."""
    waiting = cast("BaseStorage", messages.get_messages(request))
    is_said = text in {message.message for message in waiting}
    waiting.used = False  # they are shown by the page that is opened next
    if not is_said:
        messages.success(request, text)


def by_values(read: Callable[[Mapping[str, Any]], P]) -> Read[P]:
    """Return what reads a form by its values alone."""
    return lambda _request, values, _table: read(values)


def _newer(head: TableHead, look: StoredPreview[D] | None) -> int | None:
    """Return the newest version where a preview is of an older one; None otherwise."""
    newest = head.table.version
    if look is None or look.version is None or newest is None:
        return None
    return newest if look.version < newest else None


def _is_current(table: Table) -> bool:
    """Whether the database knows the newest version; else the worker alone decides."""
    jobs = Job.objects.filter(subject_id=table.id, kind=REFRESH.name)
    return not table.is_stale and not jobs.filter(state__in=Job.ACTIVE_STATES).exists()
