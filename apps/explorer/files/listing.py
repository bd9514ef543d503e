"""The files of the version that a page shows, or the job that lists them."""

from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.permissions import signed_in
from apps.explorer.version.indexed import indexed_files
from apps.explorer.version.listed import ListedFiles
from apps.explorer.version.page import still
from apps.explorer.version.table_version import TableVersion
from apps.jobs.models import Job
from apps.pages.errors import PageError
from apps.tables.work.version_files import VERSION_FILES, VersionFiles


def listed_files(
    request: HttpRequest, at: TableVersion, *, waits: bool
) -> tuple[ListedFiles | None, Job | None]:
    """Return the files of the version, or the job that lists them.

    The index has the newest version's; a job lists those of an older one.

    Args:
        waits: Whether to wait a while for the job, as a download does.
    """
    if at.version is None or at.unlisted_reason:
        return None, None
    if at.is_latest:
        files = indexed_files(at.table)
        if files is not None:
            return ListedFiles(f"{at.table.id}/{at.table.index_name}", files), None
    job, result = VERSION_FILES.answer(
        at.table,
        VersionFiles(at.version),
        requested_by=signed_in(request),
        now=timezone.now(),
        waits=waits,
    )
    return (ListedFiles(str(job.id), result.rows) if result else None), job


def not_ready(at: TableVersion, job: Job | None) -> PageError:
    """Return why there are no files to download yet."""
    if job is None:
        return PageError(
            status=409,
            code="not-listed",
            message=at.unlisted_reason
            or at.table.error
            or f"{at.table.full_name} is not indexed yet.",
            hint="Open the page of the table: it says why.",
        )
    return still(
        "listing", f"The files of version {at.version} are still being listed.", job
    )
