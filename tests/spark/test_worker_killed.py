"""A worker that is killed in the middle of index jobs: another one finishes them."""

from collections import Counter
from pathlib import Path

from tests.support.processes.installation import wait_for
from tests.support.processes.spark_worker import (
    add_gated,
    jobs,
    new_home,
    one_is_left,
    rows,
    states,
    worker,
)

TIMEOUT_S = 240  # a start takes many seconds on a busy machine
VARIABLES = {"DELTAWEB_JOB_LEASE_S": "3", "DELTAWEB_SPARK_MASTER": "local[2]"}


def members(session: int) -> list[int]:
    """The processes of a session that still run."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


class TestAKilledWorker:
    def test_loses_nothing(self, lake: Path, tmp_path: Path) -> None:
        home = new_home(tmp_path, lake, "orders", "returns", "t2=returns")
        slow = add_gated(home, lake / "customers")
        in_the_middle = {"DONE": 3, "RUNNING": 1}

        with worker(home, **VARIABLES) as first:
            assert wait_for(
                lambda: slow.has_reader and one_is_left(home), timeout_s=TIMEOUT_S
            ), (home / "worker.log").read_text()
            assert states(home) == in_the_middle
            first.kill()
            first.wait()
        assert wait_for(lambda: not members(first.pid), timeout_s=TIMEOUT_S)
        assert states(home) == in_the_middle
        slow.open()

        with worker(home, **VARIABLES):
            finished = wait_for(
                lambda: states(home) == {"DONE": 4}, timeout_s=TIMEOUT_S
            )
            assert finished, (home / "worker.log").read_text()

        assert states(home) == {"DONE": 4}
        assert Counter(job["attempts"] for job in jobs(home)) == {1: 3, 2: 1}
        tables = rows(
            home,
            "SELECT name, state, t.version, count(*) AS num_commits FROM tables_table t"
            " JOIN tables_commit c ON c.table_id = t.id GROUP BY t.id ORDER BY name",
        )
        assert [tuple(table.values()) for table in tables] == [
            ("orders", "INDEXED", 21, 22),
            ("returns", "INDEXED", 0, 1),
            ("slow_customers", "INDEXED", 59, 60),
            ("t2", "INDEXED", 0, 1),
        ]
