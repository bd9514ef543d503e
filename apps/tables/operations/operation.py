"""An operation: planned, told, agreed to, carried out.

    RESTORE = register(
        Operation(
            name="restore",
            words="Restore a version",
            title="Restore {table}",
            doing="Bringing files back",
            action="table.restore",
            parameters=Restore,          # a frozen dataclass of JSON values
            plan=plan_restore,           # (DeltaTable, Restore, Occasion) -> a plan
            foresee=foresee_restore,     # a plan -> Foreseen
            carry_out=carry_out_restore, # (DeltaTable, plan, Occasion) -> CommitResult
        )
    )

A job of it makes the plan and tells it; a job that somebody agreed to makes the plan
anew, holds it against what was shown, and carries out that very plan. So every preview
is the dry run of what then runs, and nothing is done that nobody has seen.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, TypeVar

from django.utils import timezone

from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.table import DeltaTable
from deltaweb.web.jobs import kinds
from deltaweb.web.jobs.kind import JobKind, Queue, from_json
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import TrackedJob
from deltaweb.web.tables.errors import OperationOutdatedError
from deltaweb.web.tables.index.refresh import refresh_anew
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.models.subjects import on_table, table_of
from deltaweb.web.tables.operations.foreseen import Foreseen, Occasion, Seen
from deltaweb.web.tables.operations.looks import look_again
from deltaweb.web.tables.storage.opening import open_table, roots_of_server

P = TypeVar("P")
T = TypeVar("T")

Settle = Callable[[Table | None, P, Mapping[str, Any] | None], None]
LOOKING: Final = "Looking at what would happen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The parameters of a job of an operation.

    Attributes:
        asked: Those of the operation, as JSON.
        seen: What is agreed to, of `Seen.to_json`; None only looks.
    """

    asked: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, Any] | None = None


def open_subject(table: Table | None, _asked: object) -> DeltaTable:
    """Open the table that an operation is about.

    Raises:
        DeltaError: As `open_table` lists them.
    """
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
        refresh_anew(table, now=timezone.now())


def finish_nothing(_asked: object, _occasion: Occasion) -> Mapping[str, Any] | None:
    """Find nothing that a worker before has left half done."""
    return None


def counts_of(found: Mapping[str, Any], _asked: object) -> Mapping[str, int]:
    """Return the counts that a look has found."""
    return dict(found["counts"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[P, T]):
    """Everything that is said of one operation; a kind of job comes from it.

    Attributes:
        name: In the name of its kind of job, `tables.<name>`.
        words: What it does, for lists of jobs.
        title: The title of a job, with `{table}`.
        doing: The step of what is agreed to, while it is done.
        action: Its name in the record: `table.restore`.
        parameters: A frozen dataclass of JSON values.
        plan: Finds out what is to be done, and changes nothing.
        foresee: What of a plan is shown and agreed to.
        carry_out: Does what was planned; what it returns is the job's result.
        opens: Opens what it works on: a table of the catalogue, or a place.
        settle: Called when it is done, or has failed half-way; with the result, or
            None.
        agreed: The counts that somebody agrees to who chooses these parameters, by
            the result of a look: those that the look told, unless more can be chosen.
        resume: Looks for what a worker before did that was killed before it could say
            so, and finishes it: the result, or None where there is nothing.
        queue: Where its jobs wait.
        page: The URL name of its page.
        action_of: Its name in the record where that depends on what is asked.
    """

    name: str
    words: str
    title: str
    doing: str
    action: str
    parameters: type[P]
    plan: Callable[[DeltaTable, P, Occasion], T]
    foresee: Callable[[T], Foreseen]
    carry_out: Callable[[DeltaTable, T, Occasion], CommitResult | Mapping[str, Any]]
    opens: Callable[[Table | None, P], DeltaTable] = open_subject
    settle: Settle[P] = index_again
    agreed: Callable[[Mapping[str, Any], P], Mapping[str, int]] = counts_of
    resume: Callable[[P, Occasion], Mapping[str, Any] | None] = finish_nothing
    queue: Queue = Queue.DEFAULT
    page: str = ""
    action_of: Callable[[P], str] | None = None

    @property
    def kind(self) -> str:
        """The name of its kind of job."""
        return f"tables.{self.name}"

    def asked(self, job: Job) -> P:
        """Return what a job of it was asked."""
        return from_json(self.parameters, job.parameters.get("asked") or {})

    # === The work ===

    def work(self, job: TrackedJob, given: Asked) -> dict[str, Any]:
        """Look at what would happen, or do what was agreed to.

        Returns:
            Of a look `at`, `version`, `counts`, `is_empty` and the detail; of what
            was done its result, and `is_done`.

        Raises:
            OperationOutdatedError: If what would happen is no longer what was shown:
                it is looked at again.
            DeltaError: As the operation says.
        """
        table = table_of(job) if job.parameters.get("table_id") else None
        asked = from_json(self.parameters, given.asked)
        seen = Seen.from_json(given.seen) if given.seen is not None else None
        now = seen.at if seen else timezone.now()
        occasion = Occasion(job=job, now=now, seen=seen)
        job.step(LOOKING)
        if table is None and seen is not None:
            finished = self.resume(asked, occasion)
            if finished is not None:
                self.settle(table, asked, finished)
                return {"is_done": True, **finished}
        opened = self.opens(table, asked)
        plan = self.plan(opened, asked, occasion)
        foreseen = self.foresee(plan)
        if seen is None:
            return shown(foreseen, now=now)
        if job.attempt > 1 and foreseen.is_empty:
            # A worker that was killed after its commit has done it.
            self.settle(table, asked, None)
            return {"is_done": True, "version": foreseen.version, "done_before": True}
        self._check(seen, foreseen, table, job)
        return self._carry_out(opened, plan, occasion, table, asked)

    def _check(
        self, seen: Seen, foreseen: Foreseen, table: Table | None, job: TrackedJob
    ) -> None:
        is_other = dict(foreseen.counts) != dict(seen.counts)
        # A worker before this one may have done it: then the version is another, and
        # equal counts would mean to do it twice.
        may_be_done = job.attempt > 1 and foreseen.version != seen.version
        if is_other or may_be_done:
            look_again(job.id, now=timezone.now())
            name = table.full_name if table else job.title
            raise OperationOutdatedError(name=name)

    def _carry_out(
        self,
        opened: DeltaTable,
        plan: T,
        occasion: Occasion,
        table: Table | None,
        asked: P,
    ) -> dict[str, Any]:
        occasion.job.step(self.doing)
        occasion.job.check_held()
        result: dict[str, Any] | None = None
        try:
            outcome = self.carry_out(opened, plan, occasion)
            told = asdict(outcome) if isinstance(outcome, CommitResult) else outcome
            result = {"is_done": True, **told}
        finally:
            self.settle(table, asked, result)
        return result


def shown(foreseen: Foreseen, *, now: datetime) -> dict[str, Any]:
    """Return what a look has found, as a job's result."""
    return {
        **foreseen.detail,
        "at": now.isoformat(),
        "version": foreseen.version,
        "counts": dict(foreseen.counts),
        "is_empty": foreseen.is_empty,
    }


def register(operation: Operation[P, T]) -> Operation[P, T]:
    """Make the kind of job of an operation known, and return the operation."""
    kinds.register(
        JobKind(
            name=operation.kind,
            words=operation.words,
            parameters=Asked,
            run=operation.work,
            queue=operation.queue,
            is_reserved=True,
            is_apart=True,
            is_look_unless="seen",
            page=on_table(lambda job: (operation.page, (), {"job": str(job.id)}))
            if operation.page
            else None,
        )
    )
    return operation
