"""The jobs whose results the compare page shows: found again, queued or started."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Sum

from apps.accounts.models import User
from apps.explorer.columns.key import MAX_KEYS, KeySuggestion, table_key
from apps.explorer.compare.selector import Comparison
from apps.jobs.models import Job
from apps.jobs.results import JobRows, job_file, job_rows
from apps.jobs.waiting import wait_a_glance
from apps.pages.request.parameters import QueryError
from apps.tables.work.diff_files import DIFF_FILES, DiffFiles, FileDiff
from apps.tables.work.diff_rows import ALL_ROWS, DIFF_ROWS, DiffRows, RowDiff
from apps.tables.work.table_look import is_lost
from deltaweb.delta.protocol.column_path import split_names


def file_diff_job(
    found: Comparison, *, requested_by: User, now: datetime, waits: bool = False
) -> tuple[Job, JobRows[FileDiff] | None]:
    """Return the job that compares files, queued if need be, and its result.

    With `waits` it waits for the job a while, as a download does.
    """
    asked = _files(found)
    return DIFF_FILES.answer(
        found.table, asked, requested_by=requested_by, now=now, waits=waits
    )


def known_file_diff(found: Comparison) -> JobRows[FileDiff] | None:
    """Return what a comparison of files has found before, without asking for one."""
    return DIFF_FILES.known(found.table, _files(found))


def row_diff_job(
    found: Comparison, key: Sequence[str]
) -> tuple[Job | None, JobRows[RowDiff] | None]:
    """Return the job that compares rows, if somebody has started it, and its result."""
    job = DIFF_ROWS.newest(found.table, _rows(found, key))
    if job is None or is_lost(found.table, job):
        return None, None
    wait_a_glance(job)
    return job, job_rows(DIFF_ROWS, job)


def start_row_diff(
    found: Comparison, key: Sequence[str], *, requested_by: User, now: datetime
) -> Job:
    """Start comparing rows; work that is done or under way is not begun again."""
    asked = _rows(found, key)
    job = DIFF_ROWS.newest(found.table, asked)
    lost = job if job is not None and is_lost(found.table, job) else None
    return DIFF_ROWS.start(
        found.table, asked, requested_by=requested_by, now=now, lost=lost
    )


def are_rows_few(found: Comparison) -> bool:
    """Whether comparing rows reads so little that no estimate is shown first.

    The commits in between add and remove at least the files that differ.
    """
    before, after = sorted(found.versions)
    commits = found.table.commits.filter(version__gt=before, version__lte=after)
    sums = commits.order_by().aggregate(
        known=Count("id"), added=Sum("added_bytes"), removed=Sum("removed_bytes")
    )
    size_bytes = (sums["added"] or 0) + (sums["removed"] or 0)
    return sums["known"] == after - before and size_bytes <= settings.SPARK_DIFF_BYTES


def all_rows_file(job: Job | None) -> Path | None:
    """Return the file of every changed row; None while it is not there."""
    return job_file(job, ALL_ROWS)


def _files(found: Comparison) -> DiffFiles:
    """What may be deleted of a version is looked up again once it lacks files."""
    before, after = found.versions
    partly = tuple(side.version for side in found.partly_sides)
    return DiffFiles(from_=before, to=after, partly=partly)


def _rows(found: Comparison, key: Sequence[str]) -> DiffRows:
    before, after = found.versions
    return DiffRows(from_=before, to=after, key=tuple(key))


# === A key to match rows of two versions by ===


def parse_key(text: str, found: Comparison) -> tuple[str, ...]:
    """Read `key=` of an address: names of columns, separated by commas."""
    names = [text] if text in found.columns else split_names(text)
    key = tuple(dict.fromkeys(names))
    unknown = [name for name in key if name not in found.columns]
    if unknown or len(key) > MAX_KEYS:
        named = repr(unknown[0][:80]) if unknown else f"more than {MAX_KEYS}"
        expected = f"columns that both versions have, not {named}"
        raise QueryError(part="key", expected=expected)
    return key


def suggest_key(found: Comparison) -> KeySuggestion | None:
    """Suggest a key: that of a merge, or a column whose values may come once."""
    if found.before is None or found.after is None:
        return None
    low, high = sorted((found.before.version, found.after.version))
    return table_key(found.table, found.columns, after=low, up_to=high)
