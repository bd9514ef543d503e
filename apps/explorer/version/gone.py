"""A version whose rows are gone: what took its files, and which versions are left."""

from dataclasses import dataclass

from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.pages.page_json import shaped
from apps.tables.models import Commit, MissingFiles
from apps.tables.versions.file_checks import failed_read_of
from apps.tables.versions.missing_files import (
    are_files_checked,
    missing_files_of,
    vacuum_version_of,
)
from apps.tables.versions.resources import VacuumCommit

CODE = "version-gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoneVersion:
    """What a page says in place of the rows of a version.

    Attributes:
        reason: Why its rows cannot be read, in a sentence.
        missing: What it lacks; None where the log no longer builds it.
        vacuum: The commit of the VACUUM that took files of it, if one did.
        is_checked: Whether storage was listed since it was made.
        older: The newest version before it that can be read.
        newer: The oldest version after it that can be read.
    """

    version: int
    reason: str
    missing: MissingFiles | None
    vacuum: Commit | None
    is_checked: bool
    older: int | None
    newer: int | None

    def describe(self) -> dict[str, object]:
        """Return what the JSON form says besides the error's words."""
        missing, vacuum = self.missing, self.vacuum
        return {
            "version": self.version,
            "files": missing.describe() if missing else None,
            "vacuum": vacuum
            and shaped(
                VacuumCommit,
                vacuum,
                timestamp=vacuum.committed_at,
                user=vacuum.user_name or None,
            ),
            "nearest_readable": {"older": self.older, "newer": self.newer},
        }

    def error(self) -> PageError:
        """Return the answer of the machine forms."""
        nearest = [f"version {v}" for v in (self.older, self.newer) if v is not None]
        hint = "Only a backup of its files can bring its rows back."
        if nearest:
            hint = f"The nearest that can be read: {' and '.join(nearest)}."
        return PageError(
            status=410,
            code=CODE,
            message=self.reason,
            hint=hint,
            facts=self.describe(),
        )


def gone_version(at: TableVersion, job: Job | None = None) -> GoneVersion | None:
    """Return why the rows of a version are gone; None where they may be there."""
    met_missing_file = job is not None and failed_read_of(job) is not None
    if at.version is None or not (at.is_gone or met_missing_file):
        return None
    missing = missing_files_of(at.table, [at.version]).get(at.version)
    vacuum = None
    deleted_at = vacuum_version_of(at.table, missing) if missing else None
    if deleted_at is not None:
        vacuum = at.table.commits.filter(version=deleted_at).first()
    return GoneVersion(
        version=at.version,
        reason=_reason(at, missing, vacuum),
        missing=missing,
        vacuum=vacuum,
        is_checked=are_files_checked(at.table, at.version),
        older=at.nearest_older,
        newer=at.nearest_newer,
    )


def _reason(
    at: TableVersion, missing: MissingFiles | None, vacuum: Commit | None
) -> str:
    """Say what is gone, and by whom as far as the history tells."""
    subject = f"v{at.version} cannot be read:"
    if missing is None:
        return at.unlisted_reason or f"{subject} a file of it is gone from storage."
    gone, total = missing.num_missing, missing.num_files
    at_least = "" if missing.is_exact else "at least "
    if total == gone:
        what = "its only file" if gone == 1 else f"its {gone:,} files"
        absent = f"none of its {gone:,} files is in storage"
        if gone == 1:
            absent = "its only file is not in storage"
    else:
        of_all = "" if total is None else f" of its {total:,}"
        what = f"{at_least}{gone:,}{of_all} files"
        absent = f"{what} {'is' if gone == 1 else 'are'} not in storage"
    if vacuum is not None:
        return f"{subject} the VACUUM of v{vacuum.version} deleted {what}."
    return f"{subject} {absent}, and no VACUUM in the history mentions it."
