"""A query whose process is killed, again and again, writes every row exactly once.

Each start of Spark takes seconds: it runs where `DELTAWEB_SINK_KILLS` says how often.
"""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.table import DeltaTable
from tests.spark.writing import endless_sink

KILLS = int(os.environ.get("DELTAWEB_SINK_KILLS", "0"))
BATCHES = int(os.environ.get("DELTAWEB_SINK_BATCHES", "50"))
SCHEMA = pa.schema([("n", pa.int64())])
LOOK_S = 0.05


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


@pytest.mark.skipif(not KILLS, reason="DELTAWEB_SINK_KILLS is not set")
def test_every_row_is_there_once_however_often_the_sink_is_killed(
    tmp_path: Path,
) -> None:
    source = DeltaTable.create(str(tmp_path / "source"), SCHEMA)
    for n in range(BATCHES):
        source.append(pa.table({"n": [n]}, schema=SCHEMA))
    sink = tmp_path / "sink"

    for _ in range(KILLS):
        kill_after(start(tmp_path), sink, num_commits(sink) + BATCHES // (KILLS + 1))
    while start(tmp_path).wait():
        pass

    found = DeltaTable(str(sink)).snapshot().read()["n"].to_pylist()
    assert sorted(found) == list(range(BATCHES))
    (noted,) = DeltaTable(str(sink)).snapshot().transactions.values()
    assert noted.version >= BATCHES - 1
