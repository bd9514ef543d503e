"""A table on S3 is indexed by the real job, with the options of its storage."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.index.refresh import REFRESH, refresh_table
from apps.tables.models import Table
from apps.tables.storage.connections import add_connection
from apps.tables.storage.options import parse_options
from tests.support import cases
from tests.support.logs.delta_logs import LogBuilder, add, remove
from tests.support.pages.factories import NOW, new_unindexed_table
from tests.support.stores.s3_server import SECRET_KEY, S3Server

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("spark")]


@pytest.fixture(scope="module")
def location(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Five files of three rows, of which the second version replaces one."""
    stats = json.dumps({"numRecords": 3})
    log = LogBuilder().start(*(add(f"f{n}", stats=stats) for n in range(5)))
    log.commit(1, remove("f1"), add("g", stats=stats))
    bucket = s3.new_bucket()
    s3.upload(log.on_disk(tmp_path_factory.mktemp("t") / "t"), bucket, "lake/t")
    return f"s3://{bucket}/lake/t"


@pytest.fixture
def job(location: str, settings: "Settings", tmp_path: Path) -> Job:
    """The index job of a table that only its storage's options reach."""
    settings.HOME = tmp_path / "home"
    return refresh_table(new_unindexed_table("t", location=location), now=NOW)


def add_storage(*texts: str) -> None:
    add_connection(
        name="lake",
        prefix="s3://",
        options=parse_options(texts, base=Path("/")),
        stamp=Stamp(COMMAND_LINE, NOW),
    )


@cases("max_bytes, replays", {"a large log": (0, 2), "a small log": (2 << 30, 0)})
def test_the_setting_chooses_what_replays_it_with_its_storage(  # noqa: PLR0913, PLR0917 (fixtures)
    s3: S3Server,
    job: Job,
    settings: "Settings",
    monkeypatch: pytest.MonkeyPatch,
    max_bytes: int,
    replays: int,
) -> None:
    from deltaweb.spark import index_files
    from deltaweb.spark.log import replay

    settings.SPARK_REPLAY_BYTES = max_bytes
    counted: list[int] = []
    use_state = replay.use_state

    def counting(*args: Any, **named: Any) -> Any:  # noqa: ANN401 (as the function takes and gives)
        counted.append(1)
        return use_state(*args, **named)

    monkeypatch.setattr(index_files, "use_state", counting)
    add_storage(*s3.option_texts)

    REFRESH.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.result) == ("DONE", {"version": 1, "state": "INDEXED"})
    assert Table.objects.get().num_records == 15
    assert len(counted) == replays
    assert SECRET_KEY not in repr(vars(job))


def test_wrong_options_end_the_job_without_a_value(s3: S3Server, job: Job) -> None:
    add_storage(
        f"endpoint_url={s3.url}",
        "key=hunter2",
        "secret=hunter2",
        "config_kwargs.nonsense=1",
    )

    REFRESH.work(job.id)

    job.refresh_from_db()
    assert job.state == "FAILED"
    assert "hunter2" not in repr(vars(job))


def test_a_missing_reference_ends_the_job_before_spark(job, monkeypatch):
    monkeypatch.delenv("LAKE_KEY", raising=False)
    add_storage("key=env:LAKE_KEY")

    REFRESH.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.error_code) == ("FAILED", "storage-reference-missing")
