"""A large table on S3: every executor reads its log with the options of its storage."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deltaweb.web.pages.actions import COMMAND_LINE, Stamp
from deltaweb.web.tables.index.refresh import REFRESH, refresh_table
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.connections import add_connection
from deltaweb.web.tables.storage.options import parse_options
from tests.support.pages.factories import NOW, new_unindexed_table
from tests.support.stores.s3_server import S3Server

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("spark")]


@pytest.mark.parametrize(
    ("max_bytes", "replays"),
    [pytest.param(0, 2, id="a large log"), pytest.param(2 << 30, 0, id="a small log")],
)
def test_the_setting_chooses_what_replays(  # noqa: PLR0913, PLR0917 (fixtures)
    s3: S3Server,
    lake: Path,
    settings: "Settings",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    max_bytes: int,
    replays: int,
) -> None:
    from deltaweb.spark import index_files
    from deltaweb.spark.log import replay

    settings.HOME = tmp_path / "home"
    settings.SPARK_REPLAY_BYTES = max_bytes
    counted: list[int] = []
    use_state = replay.use_state

    def counting(*args: Any, **named: Any) -> Any:  # noqa: ANN401 (as the function takes and gives)
        counted.append(1)
        return use_state(*args, **named)

    monkeypatch.setattr(index_files, "use_state", counting)
    bucket = s3.new_bucket()
    s3.upload(lake / "customers", bucket, "lake/customers")
    add_connection(
        name="lake",
        prefix="s3://",
        options=parse_options(s3.option_texts, base=Path("/")),
        stamp=Stamp(COMMAND_LINE, NOW),
    )
    table = new_unindexed_table("customers", location=f"s3://{bucket}/lake/customers")
    job = refresh_table(table, now=NOW)

    REFRESH.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.result) == ("DONE", {"version": 59, "state": "INDEXED"})
    assert Table.objects.get().num_records == 3438
    assert len(counted) == replays
