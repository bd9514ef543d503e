"""A job has failed."""

from dataclasses import dataclass
from typing import Final

from apps.notices.events.kind import EventKind, register


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedJob:
    """A job that has failed.

    Attributes:
        job: Its id.
        work: The kind of work, such as "Index a table".
        table: The name of its table; "" if it is about no table.
        error_code: The code of the error, which does not change between versions.
        error_hint: What to do; "" if unknown.
    """

    job: str
    work: str
    table: str
    error_code: str
    error_message: str
    error_hint: str

    def sentence(self, subject: str) -> str:
        """Name the job and its error."""
        return f"“{subject}” failed: {self.error_message}"


JOB_FAILED: Final = register(
    EventKind(
        name="job.failed",
        words="Failed job",
        help=(
            "Sent when a job fails. If the same work fails again for the same reason,"
            " no other event is sent."
        ),
        about="job",
        data=FailedJob,
    )
)
