"""The Iceberg door: `python -m tests.benchmarks iceberg`.

A table of 100,000 files with ten columns of statistics is loaded by the catalogue's
own endpoint: the first time its manifests and their list are made, the second time
they are there. Both are asked of a process of its own with a database of its own.

The end of a data file is read as stored and with field ids: the first request makes the
footer, the others find it.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from deltaweb.table import DeltaTable
from tests.benchmarks.logs import write_checkpointed_log
from tests.benchmarks.written_tables import wide_rows
from tests.support.processes.installation import ROOT, environment, manage, migrate, run

NUM_FILES = 100_000
FIRST_GOAL_S = 2.0
SECOND_GOAL_S = 0.050
ROUNDS = 5
FOOTER_GOAL_S = 0.002
BYTES_GOAL = 1.1
REQUESTS = 100
WIDE_ROWS = 200_000
PROGRAM = """
import json, statistics, sys, time
import django
django.setup()
from django.conf import settings
from django.test import Client
settings.ALLOWED_HOSTS = ["*"]
profile = json.load(open(sys.argv[1]))
headers = {"Authorization": f"Bearer {profile['bearerToken']}"}
client = Client()
path = "/iceberg/v1/bench/namespaces/data/tables/"

def load(name):
    start = time.perf_counter()
    answer = client.get(f"{path}{name}", headers=headers)
    assert answer.status_code == 200, answer.content
    return time.perf_counter() - start

load("small")  # what a process loads once
first = load("large")
print(first, statistics.median(load("large") for _ in range(int(sys.argv[2]))))

from apps.sharing.models import Share
from tests.functional.iceberg_api.clients import S3
from tests.functional.iceberg_api.reading import Loaded

def end_of_file():
    found = client.get(f"{path}wide", headers=headers).json()
    s3 = S3(found["config"])
    (file,) = Loaded(found["metadata-location"], found["metadata"], s3).files()
    times = []
    for _ in range(1 + int(sys.argv[3])):
        start = time.perf_counter()
        answer = s3.ask(file.file_path, Range="bytes=-65536")
        b"".join(answer)
        answer.close()
        times.append(time.perf_counter() - start)
        assert answer.status_code == 206, answer.status_code
    return file.file_size_in_bytes, times[0], statistics.median(times[1:])

ids = end_of_file()
Share.objects.update(with_field_ids=False)
print(*ids, *end_of_file())
"""
REGISTER = """
from tests.support.index.indexed_tables import index_table
from apps.tables.models import Table
for table in Table.objects.all():
    index_table(table)
"""


def main() -> None:
    """Make the tables, and print how long loading takes."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as temporary:
        home = Path(temporary)
        migrate(home)
        profile = _share(home)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(profile), str(ROUNDS), str(REQUESTS)],
            env=environment(home, PYTHONPATH=str(ROOT)),
            check=True,
            capture_output=True,
            text=True,
        )
    first, second, *ends = map(float, done.stdout.split())
    _print(f"first load of {NUM_FILES:,} files", first, FIRST_GOAL_S)
    _print("second load", second, SECOND_GOAL_S)
    size, once, again, stored_size, _, stored = ends
    _print("field ids, later requests", again - stored, FOOTER_GOAL_S)
    verdict = "ok  " if size <= stored_size * BYTES_GOAL else "MISS"
    print(
        f"{verdict} field ids, bytes               {size / stored_size:8.3f} x   "
        f"goal {BYTES_GOAL} x; the first request takes {once * 1000:.1f} ms"
    )


def _share(home: Path) -> Path:
    """Share a small table and a large one, and return the profile of a recipient."""
    profile = home / "bench.share"
    _run(home, "share", "create", "bench")
    for name, files in (("small", 100), ("large", NUM_FILES)):
        folder = home / "lake" / name
        write_checkpointed_log(folder, files=files, adds=10, removes=5)
        _run(home, "table", "add", name, str(folder))
        _run(home, "share", "add-table", "bench", f"data.{name}", "--table", name)
    folder = home / "lake" / "wide"
    rows = wide_rows(WIDE_ROWS)
    DeltaTable.create(str(folder), rows.schema).append(rows)
    _run(home, "table", "add", "wide", str(folder))
    _run(home, "share", "add-table", "bench", "data.wide", "--table", "wide")
    done = manage(home, "shell", "--verbosity", "0", "--command", REGISTER)
    assert done.returncode == 0, done.stderr
    _run(
        home,
        *("recipient", "create", "bench", "--share", "bench"),
        *("--profile", str(profile)),
    )
    return profile


def _run(home: Path, *arguments: str) -> None:
    done = run(home, *arguments)
    assert done.returncode == 0, done.stderr


def _print(what: str, seconds: float, goal_s: float) -> None:
    verdict = "ok  " if seconds <= goal_s else "MISS"
    print(f"{verdict} {what:28} {seconds * 1000:8.1f} ms  goal {goal_s * 1000:g} ms")
