"""The pages of operations on a table: upkeep, and changes of rows and definition.

A page says which operation it is of, its form and its words; the template has the
frame, and finds the parts of an operation by its name in `tables/operations`:
`_<name>_form.html` asks, `_<name>_look.html` shows what would happen and has the
button, `_<name>_done.html` shows what was done.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from deltaweb.web.accounts.zones import user_zone_name
from deltaweb.web.jobs.models import Job
from deltaweb.web.tables.errors import OperationOutdatedError
from deltaweb.web.tables.head.agreement import AgreementPage, ShownJobs, named_job
from deltaweb.web.tables.head.job_json import check_may
from deltaweb.web.tables.head.table_head import TableHead, table_head
from deltaweb.web.tables.index.refresh import REFRESH
from deltaweb.web.tables.maintenance.made_version import made_version
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.operations.looks import is_look

P = TypeVar("P")

More = Callable[[TableHead, Mapping[str, Any] | None], Mapping[str, Any]]
Weigh = Callable[[Mapping[str, str], Mapping[str, Any] | None], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class OperationPage(AgreementPage[P]):
    """What a page says of its operation; it shows the newest job of a table.

    Attributes:
        icon: Of its buttons.
        look_words: The button that looks.
        read: Makes parameters of the form's values; none where they are named alike.
        below: A template of what stands below the form; none for an empty one.
        check: Refuses at once, by what the database knows, what a worker would refuse.
        more: What else the template gets, by the result of the job.
        weigh: The same of what is chosen after the look, by the query.
        is_undone: Whether a restore takes back what it did.
    """

    template: ClassVar[str] = "tables/table_operation.html"
    parts: ClassVar[str] = "tables/operations"

    icon: str
    look_words: str = "Show what would happen"
    below: str = ""
    read: Callable[[Mapping[str, Any]], P] | None = None
    check: Callable[[Table, P], None] = lambda _table, _asked: None
    more: More = field(default=lambda _head, _result: {})
    weigh: Weigh = field(default=lambda _query, _result: {})
    is_undone: bool = True

    @property
    def done_part(self) -> str:
        """The template of what was done."""
        return f"{self.parts}/_{self.name}_done.html"

    def address(self, table: Table | None) -> str:
        """Return where the page is."""
        of = _there(table)
        return reverse(self.operation.page, args=[of.namespace, of.name])

    def admit(self, table: Table | None) -> None:
        """Refuse whatever is asked of a table that is not indexed yet."""
        of = _there(table)
        check_may(of, of.version)

    def read_form(
        self, request: HttpRequest, values: Mapping[str, Any], table: Table | None
    ) -> P:
        """Return the parameters of a form's values, checked by the newest version."""
        of = _there(table)
        read = self.read
        asked = self.operation.parameters(**values) if read is None else read(values)
        if hasattr(asked, "time_zone"):  # what is typed is of who types it
            zone = user_zone_name(request.user)
            asked = replace(asked, time_zone=zone)  # type: ignore[type-var]  # a dataclass
        if _is_current(of):
            self.check(of, asked)
        return asked

    def jobs(self, request: HttpRequest, table: Table | None) -> QuerySet[Job]:
        """Return the operation's jobs on the table, whoever asked for them."""
        del request
        jobs = Job.objects.filter(subject_id=_there(table).id, kind=self.operation.kind)
        return jobs.defer("log", "error_detail").order_by("-created_at", "-id")

    def shown(self, request: HttpRequest, table: Table | None) -> ShownJobs:
        """Return the job that the page shows, and the one that was refused before it.

        It is the one that the address names, else the newest, unless the address
        brings parameters: then the page asks. What was refused since it was no longer
        what was shown is followed by the look at what would happen now.
        """
        wanted, jobs = named_job(request), self.jobs(request, table)
        if wanted is None and any(
            name in request.GET for name in self.form.base_fields
        ):
            return ShownJobs()
        job = jobs.filter(id=wanted).first() if wanted else jobs.first()
        if job is None:
            return ShownJobs()
        if job.error_code == OperationOutdatedError.code:
            later = jobs.filter(created_at__gt=job.created_at)
            look = next((one for one in later.reverse() if is_look(one)), None)
            return ShownJobs(look or job, job if look else None)
        if not is_look(job):
            return ShownJobs(job)
        before = jobs.filter(created_at__lt=job.created_at).first()
        is_refused = before and before.error_code == OperationOutdatedError.code
        return ShownJobs(job, before if is_refused else None)

    def context(
        self,
        request: HttpRequest,
        table: Table | None,
        asked: P | None,
        result: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """Return the head of the table's pages, and what the operation adds."""
        head = table_head(_there(table))
        return {
            "head": head,
            "zone_of_sql": user_zone_name(request.user),
            "zone_asked": getattr(asked, "time_zone", ""),
            "made": made_version(head, result),
            "newer": _newer(head, result),
            **self.more(head, result),
            **self.weigh(request.GET, result),
        }


def _there(table: Table | None) -> Table:
    """Return the table: the address of every page here names one."""
    if table is None:
        message = "an operation on a table has one in its address"
        raise ValueError(message)
    return table


def _newer(head: TableHead, result: Mapping[str, Any] | None) -> int | None:
    """Return the newest version where a look is of an older one; None otherwise."""
    newest = head.table.version
    if not result or result.get("is_done") or newest is None:
        return None
    looked_at = result.get("version")
    is_older = isinstance(looked_at, int) and looked_at < newest
    return newest if is_older else None


def _is_current(table: Table) -> bool:
    """Whether the database knows the newest version; else the worker alone decides."""
    jobs = Job.objects.filter(subject_id=table.id, kind=REFRESH.name)
    return not table.is_stale and not jobs.filter(state__in=Job.ACTIVE_STATES).exists()
