"""What upkeep jobs ask of the library: progress, cancelling, bounded results."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from deltaweb.delta.log.paths import checkpoint_name, commit_name
from deltaweb.delta.log.store import FileStatus
from deltaweb.delta.writing.checkpoint.builder import build_checkpoint
from deltaweb.delta.writing.log_cleanup import LogCleanup
from deltaweb.table import DeltaTable
from deltaweb.web.jobs.kind import to_json
from deltaweb.web.jobs.models import Job
from deltaweb.web.jobs.running.tracking import JobCancelled, TrackedJob
from deltaweb.web.jobs.services import cancel
from deltaweb.web.tables.work.checkpoint import (
    WriteCheckpoint,
    checkpoint_request,
)
from deltaweb.web.tables.work.cleanup import cleanup_json
from deltaweb.web.tables.work.log_writing import MAX_FILES_NAMED
from tests.benchmarks.logs import write_json_log
from tests.support.pages.factories import new_job

pytestmark = pytest.mark.django_db
COMMITS = 6
ASKED = WriteCheckpoint(version=COMMITS - 1, parts=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_json_log(tmp_path / "orders", commits=COMMITS, adds=5, removes=1)


@pytest.fixture
def job() -> TrackedJob:
    row = new_job(parameters=to_json(ASKED))
    taken = TrackedJob.take(row.id, clock=timezone.now)
    assert taken is not None
    return taken


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "_delta_log").iterdir())


class TestCheckpointRequest:
    def test_tells_the_job_how_far_it_is(self, folder: Path, job: TrackedJob) -> None:
        request = checkpoint_request(job, ASKED, now=timezone.now())

        build_checkpoint(DeltaTable(str(folder)).store, request)
        job.step("The next step")
        request.on_progress(30, 33)  # type: ignore[misc]  # it has one
        job.succeed()

        row = Job.objects.get(id=job.id)
        assert (row.progress_done, row.progress_total) == (30, 33)
        assert row.progress_unit == "file actions"

    def test_of_a_job_that_is_cancelled_stops_and_leaves_nothing(
        self, folder: Path, job: TrackedJob
    ) -> None:
        request = checkpoint_request(job, ASKED, now=timezone.now())
        before = names(folder)
        cancel(Job.objects.get(id=job.id), now=timezone.now())

        with pytest.raises(JobCancelled):
            build_checkpoint(DeltaTable(str(folder)).store, request)

        assert names(folder) == before


class TestCleanupJson:
    def test_counts_all_and_names_the_oldest(self) -> None:
        count = MAX_FILES_NAMED + 50
        files = [FileStatus(commit_name(version), 10, 0) for version in range(count)]
        files.append(FileStatus(checkpoint_name(3), 7, 0))
        cutoff = datetime(2026, 3, 1, tzinfo=UTC)

        told = cleanup_json(LogCleanup(cutoff, count, files, is_done=False))

        assert (told["num_files"], told["num_commits"]) == (count + 1, count)
        assert told["size_bytes"] == 10 * count + 7
        assert (told["first_version"], told["last_version"]) == (0, count - 1)
        assert len(told["files"]) == MAX_FILES_NAMED
        assert told["files"][0] == {"name": commit_name(0), "size": 10}
        assert datetime.fromisoformat(told["cutoff"]) - cutoff == timedelta(0)

    def test_of_nothing_names_no_version(self) -> None:
        cutoff = datetime(2026, 3, 1, tzinfo=UTC)

        told = cleanup_json(LogCleanup(cutoff, None, [], is_done=True))

        assert told["first_version"] is None
        assert told["files"] == []
