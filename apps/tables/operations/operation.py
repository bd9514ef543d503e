"""An operation: planned, shown, agreed to, carried out.

    RESTORE = register(
        Operation(
            name="restore",
            words="Restore a version",
            title="Restore {table}",
            doing="Bringing files back",
            action="table.restore",
            parameters=Restore,          # a frozen dataclass of JSON values
            plan=plan_restore,           # (DeltaTable, Restore, RunContext) -> a plan
            preview=preview_restore,     # a plan -> OperationPreview
            detail=RestoreDetail,        # the dataclass of what else the preview shows
            carry_out=carry_out_restore, # (table, plan, RunContext) -> the result
            result=CommitResult,         # the dataclass of that
            result_text=commit_text,     # the result -> a sentence
        )
    )

A job of it makes the plan and shows it; a job that somebody agreed to makes the plan
again, holds it against what was shown, and carries out that very plan. So every preview
is the dry run of what then runs, and nothing is done that nobody has seen.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from operator import eq
from typing import Any, Final, Generic, TypeAlias, TypeVar

from django.utils import timezone

from apps.jobs import kinds
from apps.jobs.kind import JobKind, Queue
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.operate.switches.state import WRITES, require_on
from apps.pages.page_json import MissingKeysError, from_json
from apps.pages.registry import Registry
from apps.tables.errors import AskerGoneError, OperationOutdatedError
from apps.tables.head.job_json import result_of
from apps.tables.index.refresh import refresh_again
from apps.tables.models import Table
from apps.tables.models.subjects import on_table, table_of
from apps.tables.operations.preview import (
    Approval,
    OperationPreview,
    RunContext,
    no_place,
)
from apps.tables.operations.preview_jobs import is_preview, preview_again
from apps.tables.operations.stored import Outcome, StoredPreview, StoredResult
from apps.tables.storage.opening import open_table, roots_of_server, table_place
from deltaweb.delta.writing.authorship import authored
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from deltaweb.words import counted

P = TypeVar("P")
T = TypeVar("T")
D = TypeVar("D")
R = TypeVar("R")

PREVIEWING: Final = "Preparing the preview"
COUNTS: Final = (
    ("num_rows_inserted", "row", "inserted"),
    ("num_rows_updated", "row", "updated"),
    ("num_rows_deleted", "row", "deleted"),
    ("num_rows_copied", "row", "written again"),
    ("num_added_files", "file", "added"),
    ("num_removed_files", "file", "removed"),
)
"""The counts of a commit, with the words for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The parameters of a job of an operation.

    Attributes:
        seen: What is agreed to, of `Approval.to_json`; None only looks.
    """

    asked: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, Any] | None = None


AnyOperation: TypeAlias = "Operation[Any, Any, Any, Any]"
operations: Registry[AnyOperation] = Registry(key=lambda one: one.name)
"""Those that are done by a job; `kinds.all_kinds` loads them."""


def open_subject(table: Table | None, _asked: object) -> DeltaTable:
    """Open the table that an operation is about."""
    if table is None:
        message = "an operation without a table says what it opens"
        raise ValueError(message)
    return open_table(table, roots=roots_of_server())


def index_again(table: Table | None, _asked: object, _result: object) -> None:
    """Index the table that has a new version, or has lost files or commits.

    It may have neither, where the work has failed; an index that runs may have listed
    the log before, and pages wait for what comes of this one.
    """
    if table is not None:
        refresh_again(table, now=timezone.now())


def finish_nothing(_asked: object, _context: RunContext) -> None:
    """Find nothing that a worker before has left half done."""


def commit_text(result: CommitResult) -> str:
    """Say what a commit did in one line."""
    if not result.attempts:
        return "Nothing to do: the table is as it was."
    parts = [
        f"{counted(count, noun)} {became}"
        for name, noun, became in COUNTS
        if (count := getattr(result, name))
    ]
    said = f": {', '.join(parts)}" if parts else ""
    return f"Committed version {result.version}{said}."


def counts_of(found: StoredPreview[D], _asked: object) -> Mapping[str, int]:
    """Return the counts that a preview has found."""
    return found.counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[P, T, D, R]):
    """Everything that is said of one operation; a kind of job comes from it.

    Attributes:
        name: In the name of its kind of job, `tables.<name>`.
        title: The title of a job, with `{table}`.
        doing: The step of what is agreed to, while it is done.
        action: Its name in the record: `table.restore`, or what says that by what is
            asked.
        parameters: A frozen dataclass of JSON values.
        plan: Finds out what is to be done, and changes nothing.
        preview: What of a plan is shown and agreed to.
        detail: The frozen dataclass of what else a preview shows.
        carry_out: Does what was planned; what it returns is the job's result.
        result: The frozen dataclass of that.
        opens: Opens what it works on: a table of the catalogue, or a place.
        settle: Called when it is done, or has failed half-way; with the result, or
            None.
        agreed: The counts that somebody agrees to who chooses these parameters, by
            the result of a preview: those that it found, unless more can be chosen.
        resume: Looks for what a worker before did that was killed before it could say
            so, and finishes it: the result, or None where there is nothing.
        is_still: Whether the counts of a plan are those that somebody agreed to.
        check: Refuses a plan that cannot be carried out, before anybody is asked.
        question: What somebody at a terminal is asked, by the parameters and what it
            works on; "" where it destroys nothing.
        result_text: Says the result in a line or several.
        deletes_files: Whether it deletes files and makes no version: no commit then
            notices what came meanwhile, so it is planned again after an answer.
        is_harmless: Whether it may be asked for unseen: nothing that anybody reads
            becomes another.
        looks_long: Whether to find out what it would do may take long: who is not there
            to be asked is told so before.
        has_engines: Whether a command may say who does it, this process or Spark.
        is_apart: Whether a job of it has a process of its own, as `JobKind` has it; one
            that has none starts no Spark to look.
        page: The URL name of its page.
    """

    name: str
    words: str
    title: str
    doing: str
    action: str | Callable[[P], str]
    parameters: type[P]
    plan: Callable[[DeltaTable, P, RunContext], T]
    preview: Callable[[T], OperationPreview[D]]
    detail: type[D]
    carry_out: Callable[[DeltaTable, T, RunContext], R]
    result: type[R]
    result_text: Callable[[R], str]
    opens: Callable[[Table | None, P], DeltaTable] = open_subject
    settle: Callable[[Table | None, P, R | None], None] = index_again
    agreed: Callable[[StoredPreview[D], P], Mapping[str, int]] = counts_of
    resume: Callable[[P, RunContext], R | None] = finish_nothing
    is_still: Callable[[Mapping[str, int], Mapping[str, int]], bool] = eq
    check: Callable[[T], None] = lambda _plan: None
    question: Callable[[P, DeltaTable], str] = lambda _asked, _opened: ""
    deletes_files: bool = False
    is_harmless: bool = False
    looks_long: bool = False
    has_engines: bool = False
    is_apart: bool = True
    queue: Queue = Queue.DEFAULT
    page: str = ""

    def action_name(self, asked: P) -> str:
        """Return its name in the record."""
        return self.action if isinstance(self.action, str) else self.action(asked)

    @property
    def is_of_who_asked(self) -> bool:
        """Whether it is about what somebody brought, or makes: nobody else does it."""
        known = fields(self.parameters)  # type: ignore[arg-type]  # as `parameters` says
        return any(one.name == "user_id" for one in known)

    @property
    def kind(self) -> str:
        """The name of its kind of job."""
        return f"tables.{self.name}"

    def asked(self, job: Job) -> P:
        """Return what a job of it was asked."""
        return from_json(self.parameters, job.parameters.get("asked") or {})

    def read(self, values: Mapping[str, Any]) -> StoredPreview[D] | StoredResult[R]:
        """Read the result of a job of it."""
        if values.get("is_done"):
            return StoredResult.read(self.result, values)
        return StoredPreview.read(self.detail, values)

    def preview_of(self, job: Job | None) -> StoredPreview[D] | None:
        """Return what a job that only looked has found; None of any other."""
        values = result_of(job) if job is not None and is_preview(job) else None
        if values is None or "at" not in values:  # of releases with another form
            return None
        with suppress(MissingKeysError):  # as well
            return StoredPreview.read(self.detail, values)
        return None

    def result_of(self, job: Job | None) -> StoredResult[R] | None:
        """Return what a job has done; None before its end, and of one that looked."""
        values = None if job is None or is_preview(job) else result_of(job)
        with suppress(MissingKeysError):  # of releases with another form
            return None if values is None else StoredResult.read(self.result, values)
        return None

    # === The work ===

    def work(self, job: TrackedJob, given: Asked) -> StoredPreview[D] | StoredResult[R]:
        """Look at what would happen, or do what was agreed to."""
        table = table_of(job) if job.parameters.get("table_id") else None
        asked = from_json(self.parameters, given.asked)
        if self.is_of_who_asked and getattr(asked, "user_id", None) is None:
            raise AskerGoneError  # only a command has no user, and reads any file here
        name = table.full_name if table else job.title
        seen = _agreed_to(given, name)
        now = seen.at if seen else timezone.now()
        context = RunContext(
            job=job,
            now=now,
            seen=seen,
            place=no_place if table is None else partial(_place, table),
            work=str(job.id),
        )
        job.step(PREVIEWING)
        if table is None and seen is not None:
            finished = self.resume(asked, context)
            if finished is not None:
                self.settle(table, asked, finished)
                return StoredResult(result=finished)
        opened = self.opens(table, asked)
        plan = self.plan(opened, asked, context)
        preview = self.preview(plan)
        if seen is None:
            return preview.stored(at=now)
        if job.attempt > 1 and preview.is_empty:
            # A worker that was killed after its commit has done it.
            self.settle(table, asked, None)
            return StoredResult(result=None, version=preview.version)
        if not self._is_agreed(seen, preview, job.attempt) and not _was_there(
            opened, seen, preview
        ):
            preview_again(job.id, now=timezone.now())
            raise OperationOutdatedError(name=name, was_shown=bool(seen.job))
        job.step(self.doing)
        job.check_held()
        result = self.run(opened, plan, context, table, asked)
        return StoredResult(result=result)

    def _is_agreed(
        self, seen: Approval, preview: OperationPreview[D], attempt: int
    ) -> bool:
        if not seen.job:  # nothing was to be agreed to, but perhaps the version
            return None in {seen.version, preview.version} or (
                seen.version == preview.version
            )
        # A worker before this one may have done it: then the version is another, and
        # equal counts would mean to do it twice.
        may_be_done = attempt > 1 and preview.version != seen.version
        return self.is_still(dict(preview.counts), dict(seen.counts)) and not (
            may_be_done
        )

    def run(
        self,
        opened: DeltaTable,
        plan: T,
        context: RunContext,
        table: Table | None,
        asked: P,
    ) -> R:
        """Carry out a plan; what is shown of the table then follows.

        Raises:
            SwitchedOffError: If writes are switched off, also since it was requested.
        """
        require_on(WRITES)
        result: R | None = None
        try:
            with authored(context.user_name):
                result = self.carry_out(opened, plan, context)
        finally:
            self.settle(table, asked, result)
        return result


def _place(table: Table) -> TablePlace:
    return table_place(table, roots=roots_of_server())


def _was_there(
    opened: DeltaTable, seen: Approval, preview: OperationPreview[D]
) -> bool:
    """Return whether a version is older than a request without a preview.

    The request names the version of the index, which may be behind the log.
    """
    version, known = preview.version, seen.version
    if seen.job or version is None or known is None or not 0 <= known < version:
        return False
    made_ms = opened.commit_times().time_ms(version)
    return made_ms is not None and made_ms <= seen.at.timestamp() * 1000


def _agreed_to(given: Asked, name: str) -> Approval | None:
    """Read what somebody agreed to."""
    if given.seen is None:
        return None
    if "at" not in given.seen:
        raise OperationOutdatedError(name=name)
    return Approval.from_json(given.seen)


def register(operation: Operation[P, T, D, R]) -> Operation[P, T, D, R]:
    """Make an operation and its kind of job known, and return the operation."""
    operations.register(operation)
    kinds.register(
        JobKind(
            name=operation.kind,
            words=operation.words,
            parameters=Asked,
            result=Outcome,
            read=operation.read,
            run=operation.work,
            queue=operation.queue,
            is_reserved=True,
            is_own=operation.is_of_who_asked,
            is_apart=operation.is_apart,
            is_look_unless="seen",
            looks_here=not operation.is_apart,
            page=on_table(lambda job: (operation.page, (), {"job": str(job.id)}))
            if operation.page
            else None,
        )
    )
    return operation
