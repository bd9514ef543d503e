"""What a worker does with a job of a kind."""

import threading
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from apps.jobs import services
from apps.jobs.kind import JobKind, NoParameters
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from deltaweb.table import DeltaTable
from deltaweb.writer.making.new_table import NewTable, create_table
from tests.support.stores.memory import MemoryTableStore

ROW = pa.table({"n": [1]})


class SlowStore(MemoryTableStore):
    """One whose checkpoints begin when the job is said to be done."""

    def __init__(self) -> None:
        super().__init__()
        self.is_done = threading.Event()

    def begin_file(self, name: str) -> Any:  # noqa: ANN401 (what a store answers)
        assert self.is_done.wait(60)
        return super().begin_file(name)


@pytest.mark.django_db
def test_a_job_is_done_before_the_checkpoint_of_its_commit_is_written(monkeypatch):
    store = SlowStore()
    properties = {"delta.checkpointInterval": "1"}
    create_table(store, NewTable(schema=ROW.schema, properties=properties))
    succeed = TrackedJob.succeed

    def tell(job: TrackedJob, result: Any = None) -> None:  # noqa: ANN401 (JSON)
        succeed(job, result)
        store.is_done.set()

    monkeypatch.setattr(TrackedJob, "succeed", tell)

    def append(_: TrackedJob, __: NoParameters) -> int:
        return DeltaTable.from_store(store).append(ROW).version or 0

    kind = JobKind(
        name="test.append",
        words="Append",
        parameters=NoParameters,
        result=int,
        run=append,
    )
    job = services.enqueue(
        kind=kind.name, title="Append", now=datetime(2026, 11, 21, tzinfo=UTC)
    )

    kind.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, 1)
    assert "00000000000000000001.checkpoint.parquet" in store.log_files
