"""Checkpoints and clean-ups of a table on S3, with the options of its storage."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from apps.jobs.models import Job
from apps.pages.actions import COMMAND_LINE, Stamp
from apps.tables.models import Table
from apps.tables.operations.checkpoint.operation import (
    CHECKPOINT,
    WriteCheckpoint,
)
from apps.tables.operations.clean_up.operation import CLEAN_UP, CleanUp
from apps.tables.operations.requests import request_preview
from apps.tables.storage.connections import add_connection
from apps.tables.storage.opening import open_table
from apps.tables.storage.options import parse_options
from deltaweb.delta.log.paths import checkpoint_part_names
from tests.benchmarks.logs import write_json_log
from tests.support.pages.factories import NOW, new_metadata, new_protocol, new_table
from tests.support.pages.operated import request_checkpoint, worked
from tests.support.stores.s3_server import S3Server

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = pytest.mark.django_db
NEWEST = 3


@pytest.fixture
def orders(s3: S3Server, settings: "Settings", tmp_path: Path) -> Table:
    """A table that only its storage's options reach."""
    settings.HOME = tmp_path / "home"
    folder = write_json_log(tmp_path / "orders", commits=NEWEST + 1, adds=5, removes=1)
    bucket = s3.new_bucket()
    s3.upload(folder, bucket, "lake/orders")
    add_connection(
        name="lake",
        prefix="s3://",
        options=parse_options(s3.option_texts, base=Path("/")),
        stamp=Stamp(COMMAND_LINE, NOW),
    )
    table = new_table(
        "orders", location=f"s3://{bucket}/lake/orders", version=NEWEST, num_files=17
    )
    new_protocol(table)
    new_metadata(table)
    return table


def looked_at(table: Table) -> dict[str, Any]:
    look = worked(
        request_preview(CHECKPOINT, table, WriteCheckpoint(), now=timezone.now())
    )
    assert isinstance(look.result, dict), look.error_detail
    return look.result


def test_a_checkpoint_is_written_with_its_storage_and_seen_by_the_next_look(orders):
    assert looked_at(orders)["commits_since_checkpoint"] == NEWEST + 1

    job = worked(request_checkpoint(orders, version=NEWEST, parts=2))

    assert job.state == Job.State.DONE, job.error_detail
    assert isinstance(job.result, dict)
    assert job.result["files"] == list(checkpoint_part_names(NEWEST, 2))
    assert "deltaweb-secret" not in repr(vars(job))
    found = looked_at(orders)
    assert found["commits_since_checkpoint"] == 0
    assert found["newest_checkpoint"]["parts"] == 2
    assert open_table(orders, roots=None).snapshot().num_files == 17


def test_expired_history_is_listed_with_its_storage(orders: Table) -> None:
    job = worked(request_preview(CLEAN_UP, orders, CleanUp(), now=timezone.now()))

    assert job.state == Job.State.DONE, job.error_detail
    assert isinstance(job.result, dict)
    assert job.result["num_files"] == 0  # all of it was committed just now
