"""A query whose process is killed, again and again, writes every row exactly once.

What Spark does of it is small, and done for it by `killed_sinks`, which is killed at
any step. A start of Spark itself takes many seconds: it is killed where
`DELTAWEB_SINK_KILLS` says how often.
"""

import json
import os
import random
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.spark.writing import endless_sink
from tests.spark.writing.killed_sinks import ROWS_A_TASK, TASKS
from tests.support.tables.table_builder import TableBuilder

KILLS = int(os.environ.get("DELTAWEB_SINK_KILLS", "0"))
BATCHES = int(os.environ.get("DELTAWEB_SINK_BATCHES", "50"))
SCHEMA = pa.schema([("n", pa.int64())])
LOOK_S = 0.05
ROOT = Path(__file__).resolve().parents[3]
LATER = datetime.now(UTC) + timedelta(days=8)
QUICK_KILLS, QUICK_BATCHES = 6, 13
TIMEOUT_S = 3_600  # a start of Spark takes a minute on a busy machine


def start(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            sys.executable,
            str(endless_sink.__file__),
            str(folder),
            str(folder / "spark"),
        ],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def num_commits(sink: Path) -> int:
    return len(list((sink / "_delta_log").glob("*.json")))


def kill_after(process: subprocess.Popen[bytes], sink: Path, commits: int) -> None:
    """Kill a process and all that it started, some time after so many commits."""
    while num_commits(sink) < commits and process.poll() is None:
        try:
            process.wait(LOOK_S)
        except subprocess.TimeoutExpired:
            continue
    try:
        process.wait(random.uniform(0, 1.5))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_every_row_is_there_once_at_whatever_step_a_process_is_killed(tmp_path: Path):
    module = "tests.spark.writing.killed_sinks"
    counts = [str(QUICK_KILLS), str(QUICK_BATCHES)]
    command = [
        sys.executable,
        "-m",
        "tests.support.processes.lean",
        module,
        str(tmp_path),
        *counts,
    ]
    subprocess.run(command, check=True, cwd=ROOT)
    assert len(json.loads((tmp_path / "killed").read_text())) == QUICK_KILLS

    table = DeltaTable(str(tmp_path / "sink"))
    found = table.snapshot().read()["n"].to_pylist()
    assert sorted(found) == list(range(QUICK_BATCHES * TASKS * ROWS_A_TASK))
    (noted,) = table.snapshot().transactions.values()
    assert (noted.app_id, noted.version) == ("the query", QUICK_BATCHES - 1)
    assert table.latest_version() == QUICK_BATCHES  # the first one is made empty
    live = {Path(path).name for path in table.snapshot().files["path"].to_pylist()}
    left = {path.name for path in (tmp_path / "sink").glob("*.parquet")}
    assert live < left  # what the killed ones had begun
    table.vacuum(dry_run=False, now=LATER)
    assert {path.name for path in (tmp_path / "sink").glob("*.parquet")} == live


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.skipif(not KILLS, reason="DELTAWEB_SINK_KILLS is not set")
def test_every_row_is_there_once_however_often_the_sink_is_killed(tmp_path: Path):
    rows = (pa.table({"n": [n]}, schema=SCHEMA) for n in range(BATCHES))
    TableBuilder(tmp_path / "source").rows(*rows).build()
    sink = tmp_path / "sink"

    for _ in range(KILLS):
        kill_after(start(tmp_path), sink, num_commits(sink) + BATCHES // (KILLS + 1))
    while start(tmp_path).wait():
        pass

    found = DeltaTable(str(sink)).snapshot().read()["n"].to_pylist()
    assert sorted(found) == list(range(BATCHES))
    (noted,) = DeltaTable(str(sink)).snapshot().transactions.values()
    assert noted.version >= BATCHES - 1
