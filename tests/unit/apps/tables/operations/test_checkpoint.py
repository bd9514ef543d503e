"""What a checkpoint would hold, and what it asks of the library."""

from pathlib import Path

import pytest
from django.utils import timezone

from apps.jobs.kind import to_json
from apps.jobs.models import Job
from apps.jobs.running.reports import Reports
from apps.jobs.running.tracking import JobCancelled, TrackedJob
from apps.jobs.services import cancel
from apps.tables.operations.checkpoint.operation import (
    CheckpointPlan,
    WriteCheckpoint,
    checkpoint_request,
    plan,
)
from apps.tables.operations.preview import RunContext
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.delta.writing.checkpoint.builder import build_checkpoint
from deltaweb.table import DeltaTable
from tests.benchmarks.logs import write_json_log
from tests.support.pages.factories import new_job

COMMITS, NEWEST = 6, 5
ASKED = WriteCheckpoint(version=NEWEST, parts=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_json_log(tmp_path / "orders", commits=COMMITS, adds=40, removes=1)


@pytest.fixture
def job() -> TrackedJob:
    row = new_job(parameters=to_json(ASKED))
    taken = TrackedJob.take(row.id, clock=timezone.now)
    assert taken is not None
    return taken


def context(job: Reports) -> RunContext:
    return RunContext(job=job, now=timezone.now())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "_delta_log").iterdir())


def planned(folder: Path, version: int | None = None) -> CheckpointPlan:
    asked = WriteCheckpoint(version=version)
    return plan(DeltaTable(str(folder)), asked, context(Reports()))


@pytest.mark.django_db
class TestTheRequest:
    def test_tells_the_job_how_far_it_is(self, folder: Path, job: TrackedJob) -> None:
        request = checkpoint_request(ASKED, context(job))

        build_checkpoint(DeltaTable(str(folder)).store, request)
        job.step("The next step")
        request.on_progress(30, 33)  # type: ignore[misc]  # it has one
        job.succeed()

        row = Job.objects.get(id=job.id)
        assert (row.progress_done, row.progress_total) == (30, 33)
        assert row.progress_unit == "file actions"

    def test_of_a_job_that_is_cancelled_stops_and_leaves_nothing(self, folder, job):
        request = checkpoint_request(ASKED, context(job))
        before = names(folder)
        cancel(Job.objects.get(id=job.id), now=timezone.now())

        with pytest.raises(JobCancelled):
            build_checkpoint(DeltaTable(str(folder)).store, request)

        assert names(folder) == before


class TestThePlan:
    def test_counts_what_a_checkpoint_would_hold(self, folder: Path) -> None:
        found = planned(folder)
        written = DeltaTable(str(folder)).create_checkpoint()

        assert found.asked.version == NEWEST
        assert found.num_files == written.num_files
        assert found.size_bytes is not None
        assert written.size_bytes / 4 < found.size_bytes < written.size_bytes * 4

    def test_names_the_newest_checkpoint_at_or_before_the_version(self, folder: Path):
        for version in (0, 2):
            DeltaTable(str(folder)).create_checkpoint(version)

        newest = planned(folder, 1).newest

        assert newest is not None
        assert (newest.version, newest.parts) == (0, None)

    def test_finds_a_checkpoint_beside_a_hint_that_names_none(self, folder: Path):
        DeltaTable(str(folder)).create_checkpoint(1)
        DeltaTable(str(folder)).create_checkpoint(2)
        (folder / "_delta_log" / checkpoint_name(2)).unlink()

        newest = planned(folder).newest

        assert newest is not None
        assert newest.version == 1
