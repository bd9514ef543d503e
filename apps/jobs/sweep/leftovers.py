"""Files of jobs: their results, the folders that they work in, and when both go."""

import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from django.conf import settings

from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.results import RESULTS_FOLDER

SCRATCH_FOLDER: Final = "scratch"
ABANDONED_AFTER_S: Final = 6 * 3600  # what is that old is not being begun just now
_JOB_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNFINISHED: Final = {".part", ".partial"}


def remove_results(job_id: object) -> None:
    """Remove what a job has left as files."""
    for path in (Path(settings.HOME) / RESULTS_FOLDER).glob(f"{job_id}*"):
        _remove(path)


def remove_leftovers(*, now: datetime) -> int:
    """Remove what killed workers left, and results that no job names any more.

    A folder to work in and a half-written result go when their job is no longer active,
    a whole result when its job is no longer known; neither before it is old.

    Returns:
        How many files and folders went.
    """
    places = list(_old_places(now.timestamp() - ABANDONED_AFTER_S))
    asked = Job.objects.filter(id__in={job_id for _, job_id in places})
    active = {str(job_id) for job_id in asked.active().values_list("id", flat=True)}
    known = {str(job_id) for job_id in asked.values_list("id", flat=True)}
    left = [
        path
        for path, job_id in places
        if job_id not in (known if _is_result(path) else active)
    ]
    for path in left:
        _remove(path)
    return len(left)


def _old_places(before_s: float) -> Iterator[tuple[Path, str]]:
    """Give what has not changed since a moment, and the id of the job in its name."""
    for name in (RESULTS_FOLDER, SCRATCH_FOLDER):
        folder = Path(settings.HOME) / name
        for path in folder.iterdir() if folder.is_dir() else ():
            found = _JOB_ID.search(path.name)
            if found and _changed_at_s(path) < before_s:
                yield path, found[0]


def _is_result(path: Path) -> bool:
    return path.parent.name == RESULTS_FOLDER and path.suffix not in _UNFINISHED


def _changed_at_s(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
