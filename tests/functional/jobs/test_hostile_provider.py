"""A real worker whose provider of received shares never ends an answer."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.installation import (
    ROOT,
    environment,
    is_running,
    migrate,
    rows,
    run,
    wait_for,
)
from tests.support.stores.hostile_provider import Hostile, hostile_running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
STARTED_WITHIN_S = 120
# One thread, no Spark, and a check that does not end by itself.
WORKER = (sys.executable, "-m", "deltaweb", "worker", "--queues", "default,spark")
VARIABLES = {"DELTAWEB_SPARK_AFTER_S": "86400", "DELTAWEB_RECEIVED_CHECK_S": "3600"}
JOBS = "SELECT state, error_code, lease_owner FROM jobs_job WHERE title LIKE ?"


@pytest.fixture
def hostile() -> Iterator[Hostile]:
    with hostile_running() as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, hostile: Hostile) -> Iterator[Path]:
    """The home of an installation with a worker, which receives the table."""
    home = tmp_path / "home"
    home.mkdir()
    migrate(home)
    profile = tmp_path / "acme.share"
    profile.write_text(hostile.provider.profile_text)
    hostile.drips(hostile.version_path)
    added = run(home, "received", "add", "acme", str(profile))
    assert added.returncode == 0, added.stderr
    with (tmp_path / "worker.log").open("wb") as log:
        worker = subprocess.Popen(
            [*WORKER, "--threads", "1"],
            env=environment(home, **VARIABLES),
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
        try:
            yield home
        finally:
            worker.terminate()
            worker.wait()


def test_another_table_is_indexed_meanwhile(
    home: Path, hostile: Hostile, lake: Path
) -> None:
    assert hostile.is_asked.wait(STARTED_WITHIN_S)
    (job,) = rows(home, JOBS, "Index acme.%")
    assert job["state"] == "RUNNING"

    added = run(home, "table", "add", "returns", str(lake / "returns"))
    assert added.returncode == 0, added.stderr

    state = "SELECT state FROM tables_table WHERE location LIKE '%/returns'"
    assert wait_for(
        lambda: rows(home, state) == [{"state": "INDEXED"}], timeout_s=STARTED_WITHIN_S
    )
    assert rows(home, JOBS, "Index acme.%") == [job]
    pid = int(job["lease_owner"].split("/")[-2])
    assert is_running(pid)

    hostile.is_released.set()

    assert wait_for(lambda: rows(home, JOBS, "Index acme.%")[0]["state"] == "FAILED")
    (ended,) = rows(home, JOBS, "Index acme.%")
    assert ended["error_code"] == "provider-answer"
    rests = "SELECT failures FROM tables_storageconnection WHERE rests_until NOT NULL"
    assert wait_for(lambda: rows(home, rests) == [{"failures": 1}])
    assert wait_for(lambda: not is_running(pid))
