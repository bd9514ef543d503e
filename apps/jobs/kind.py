"""A kind of job: its words, its parameters, who may ask for it, what a worker does.

    PREVIEW = kinds.register(
        JobKind(
            name="tables.preview_rows",
            words="Read rows",
            parameters=Preview,  # a frozen dataclass of JSON values
            result=RowsRead,  # a frozen dataclass of JSON values
            run=preview,  # (TrackedJob, Preview) -> RowsRead
        )
    )

A row keeps the name, the parameters and the result for as long as it stands: a name
never changes, and a new field of either dataclass has a default.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from apps.jobs import running
from apps.jobs.models import Job
from apps.pages.page_json import MissingKeysError, from_json, json_of
from deltaweb.delta import writing

if TYPE_CHECKING:  # most processes ask for work and do none
    from apps.jobs.running.tracking import TrackedJob

P = TypeVar("P")
R = TypeVar("R")


class Queue(StrEnum):
    """Where jobs wait: workers take those of some queues, or of all.

    Attributes:
        INTERACTIVE: Of what a person waits for, and what seldom takes long: a lane of
            its own, beside all other work.
        SPARK: Of what may need Spark.
    """

    INTERACTIVE = "interactive"
    DEFAULT = "default"
    SPARK = "spark"


@dataclass(frozen=True, slots=True)
class NoParameters:
    """The parameters of a job that needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKind(Generic[P, R]):
    """Everything that is said of one kind of job.

    Attributes:
        name: The name of its task and in its rows; machine forms show it.
        parameters: A dataclass: what a job of this kind is asked. A field's name may
            end with an underscore that JSON does not have (`from_`).
        result: The type of what a job of this kind finds: a dataclass, or a list of
            one.
        read: Reads a stored result; None where `from_json` reads it by its type.
        run: What a worker does; it returns the job's result. It must be safe to run
            twice, and import Spark inside.
        is_reserved: Whether only editors and administrators may ask for it.
        is_for_admins: Whether only administrators may ask for it, and see its jobs:
            what they say is about recipients.
        is_own: Whether only its asker and administrators see a job of it that has no
            subject: it says what is at a place, which may belong to a table that others
            may not see.
        is_apart: Whether a worker does it in a process of its own, whose memory is
            bounded: it reads files of others, or evaluates what people write.
        is_aside: Whether a job with these parameters asks a server of others, which
            may not answer: it is done aside (`apps.jobs.broker.aside`).
        is_look: Whether it only fills a page, which says itself how it ends.
        is_look_unless: The parameter without which a job of it only looks; none for
            "".
        looks_here: Whether a job of it that looks starts no Spark, where that which
            does may.
        is_long: Whether a job that looks takes long, by the parameters in its row:
            nobody waits for it as for a page.
        first_step: What it begins with, where that is always the same.
        page: The address where the result of a finished job is shown; None if that is
            gone.
        note_killed: Called with the row of a job aside that has taken too much memory.
        batch: Does the job of an id, in the place of `run`, with others beside it.
    """

    name: str
    words: str
    parameters: type[P]
    result: type[R]
    read: Callable[[Mapping[str, Any]], R] | None = None
    run: "Callable[[TrackedJob, P], R] | None" = None
    queue: Queue = Queue.DEFAULT
    is_reserved: bool = False
    is_for_admins: bool = False
    is_own: bool = False
    is_apart: bool = False
    is_aside: Callable[[Mapping[str, Any]], bool] | None = None
    is_look: bool = False
    is_look_unless: str = ""
    looks_here: bool = False
    is_long: Callable[[Mapping[str, Any]], bool] | None = None
    first_step: str = ""
    page: Callable[[Job], str | None] | None = None
    note_killed: Callable[[Job], None] | None = None
    batch: Callable[[str], None] | None = None

    def work(self, job_id: object) -> None:
        """Do a job in this process; one that is not waiting is left alone."""
        if self.batch is not None:
            self.batch(str(job_id))
            return
        # Who waits for a commit need not wait for its checkpoint.
        behind = writing.after_commit.checkpoints_behind()
        tracked = running.tracking.track_job(str(job_id), first_step=self.first_step)
        with behind, tracked as job:
            if job is not None and self.run is not None:
                for check in running.start_checks:
                    check(job.id)
                job.result = json_of(self.run(job, self.asked(job)))

    def lane(self, parameters: Mapping[str, Any]) -> Queue:
        """Return where a job of it waits that is asked this.

        What looks has the lane of its own, unless the worker's own process does it and
        may start Spark there. One that finds that it needs Spark is handed on.
        """
        if self.does_aside(parameters):
            return Queue.DEFAULT
        is_look = self.is_look or (
            bool(self.is_look_unless) and parameters.get(self.is_look_unless) is None
        )
        has_lane = self.is_apart or self.looks_here or self.queue == Queue.DEFAULT
        if not is_look or not has_lane:
            return self.queue
        if self.is_long and self.is_long(parameters):
            return self.queue
        return Queue.INTERACTIVE

    def does_aside(self, parameters: Mapping[str, Any]) -> bool:
        """Tell whether a job of it that is asked this is done aside."""
        return self.is_aside is not None and self.is_aside(parameters)

    def read_result(self, values: Any) -> R:  # noqa: ANN401 (the JSON of a row)
        """Return a stored result, as a job of this kind found it."""
        return (
            from_json(self.result, values) if self.read is None else self.read(values)
        )

    def found(self, job: Job | None) -> R | None:
        """Return the result of a job; None before its end, and without one.

        A result of a release that wrote other keys counts as none.
        """
        if job is None or job.state != Job.State.DONE or job.result is None:
            return None
        try:
            return self.read_result(job.result)
        except MissingKeysError:
            return None

    def asked(self, job: "Job | TrackedJob") -> P:
        """Return the parameters of a job of this kind."""
        return from_json(self.parameters, job.parameters)


AnyKind: TypeAlias = JobKind[Any, Any]


def to_json(parameters: Any) -> dict[str, Any]:  # noqa: ANN401 (any dataclass)
    """Return parameters as a row keeps them."""
    values = {
        field.name.rstrip("_"): getattr(parameters, field.name)
        for field in fields(parameters)
    }
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
    }


def hashed_key(kind: str, *parts: Any) -> str:  # noqa: ANN401 (any JSON value)
    """Name equal work equally, within the length of a key."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return f"{kind}:{hashlib.sha256(text.encode()).hexdigest()}"
