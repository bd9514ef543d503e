"""A query that is answered later has a large log replayed by Spark."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.jobs.models import Job
from apps.jobs.results import job_rows
from apps.sharing.answers.answer_query import ANSWER
from apps.tables.index.folders import RUNS_FOLDER, indexes_folder
from deltaweb.table import DeltaTable
from tests.functional.sharing_api.calls import Caller
from tests.support.pages.factories import (
    new_grant,
    new_recipient,
    new_shared_table,
    new_table,
    new_token,
)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("spark")
def test_a_job_lets_spark_replay_a_large_log(
    lake: Path, tmp_path: Path, settings: Settings
) -> None:
    settings.HOME = tmp_path / "home"
    settings.SPARK_REPLAY_BYTES = 0
    table = new_table("customers", location=str(lake / "customers"))
    shared = new_shared_table(name="crm.customers", table=table)
    recipient = new_recipient("acme")
    new_grant(shared.share, recipient)
    tomorrow = timezone.now() + timedelta(days=1)
    path = f"/shares/{shared.share.name}/schemas/crm/tables/customers"
    later = {"delta-sharing-capabilities": "asyncquery=true"}
    caller = Caller(*new_token(recipient, expires_at=tomorrow))
    caller.query(path, {}, **later)

    job = Job.objects.get()
    ANSWER.work(job.id)

    job.refresh_from_db()
    assert (job.state, job.error) == (Job.State.DONE, "")
    assert "Replaying the log on Spark" in job.log
    kept = job_rows(ANSWER, job)
    assert kept is not None
    expected = DeltaTable(str(lake / "customers")).snapshot().files["path"]
    assert sorted(kept.rows["path"].to_pylist()) == sorted(expected.to_pylist())
    left = [one for one in (indexes_folder() / RUNS_FOLDER).iterdir() if one.is_dir()]
    assert not left
