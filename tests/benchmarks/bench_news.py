"""What open pages cost, and how soon they hear: `python -m tests.benchmarks news`.

An installation of its own serves pages that wait for news, as browsers leave them open:
five hundred, for the processor time of its web processes; twenty, for that of all of
its processes. Then jobs end, one after the other, and a page hears of each.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.processes.installation import (
    Installation,
    migrate,
    serving,
    wait_for,
)

NUM_PAGES = 500
NUM_FEW_PAGES = 20
PAGES_A_PERSON = 20
WATCHED_S = 30.0
NUM_JOBS = 40
GOAL_PAGES_PERCENT = 2.0  # of two cores
GOAL_IDLE_PERCENT = 1.0  # of one
GOAL_HEARD_MS = 50.0
SESSIONS = """
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from apps.accounts.models import User
from apps.accounts.lifetimes.sessions import BEGAN_AT
for number in range({count}):
    role = User.Role.EDITOR
    user, _ = User.objects.get_or_create(username=f"reader{{number}}", role=role)
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store[BEGAN_AT] = time.time()
    store.create()
    print("session", store.session_key)
"""


def main() -> None:
    """Measure all three and print them beside their goals."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        home, lake = Path(folder) / "home", Path(folder) / "lake"
        home.mkdir(mode=0o700)
        lake.mkdir()
        migrate(home)
        with serving(home, LAKE=str(lake)) as running:
            count = NUM_PAGES // PAGES_A_PERSON
            told = running.manage("shell", "-c", SESSIONS.format(count=count))
            keys = [li.split()[1] for li in told.splitlines() if "session " in li]
            missed += _measure_idle(running, keys)
            missed += _measure_pages(running, keys)
            missed += _measure_hearing(running, keys[0])
    if missed:
        sys.exit(f"{missed} rows missed their goal.")


def _measure_idle(running: Installation, keys: list[str]) -> bool:
    with _pages(running, keys, NUM_FEW_PAGES):
        used = _percent(_tree(running.process.pid))
    return _tell(
        f"CPU of an installation with {NUM_FEW_PAGES} open pages",
        used,
        GOAL_IDLE_PERCENT,
        "% of a core",
    )


def _measure_pages(running: Installation, keys: list[str]) -> bool:
    every = _tree(running.process.pid)
    web = [pid for pid in every if "deltaweb.serving" in _command(pid)]
    assert web, "no web process found"
    with _pages(running, keys, NUM_PAGES):
        used = _percent(web) / 2
    return _tell(
        f"CPU of web processes with {NUM_PAGES} open pages",
        used,
        GOAL_PAGES_PERCENT,
        "% of two cores",
    )


def _measure_hearing(running: Installation, key: str) -> bool:
    """Jobs of this process end; a page hears of each, and asks for its part."""
    os.environ |= {
        "DELTAWEB_HOME": str(running.home),
        "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
        "DELTAWEB_LOG_LEVEL": "ERROR",
    }
    import django

    django.setup()
    from django.utils import timezone

    from apps.jobs.models import Job
    from apps.jobs.running.tracking import TrackedJob

    heard_ms, shown_ms = [], []
    for _ in range(NUM_JOBS):
        now = timezone.now()
        row = Job.objects.create(kind="bench.nap", title="-", created_at=now)
        job = TrackedJob.take(row.id, clock=timezone.now)
        assert job is not None
        with ExitStack() as stack:
            page = _open(running, key, f"job-end:{row.id}@0", stack)
            start = time.perf_counter()
            job.succeed()
            while b"job-end" not in page.readline():
                pass
            heard_ms.append(1000 * (time.perf_counter() - start))
            part = _ask(running, key, f"/jobs/{row.id}/progress", stack)
            assert b"done" in part.read()
            shown_ms.append(1000 * (time.perf_counter() - start))
    print(f"     heard after {statistics.median(heard_ms):.1f} ms, with its write")
    median, worst = statistics.median(shown_ms), max(shown_ms)
    label = f"end of a job to its part on the page (worst {worst:.0f} ms)"
    return _tell(label, median, GOAL_HEARD_MS, "ms")


def _tell(label: str, value: float, goal: float, unit: str) -> bool:
    """Print a row; tell whether it misses its goal."""
    verdict = "ok  " if value < goal else "MISS"
    print(f"{verdict} {label:56} {value:8.2f} {unit}, goal {goal:g}", flush=True)
    return value >= goal


# === Pages ===


@contextmanager
def _pages(running: Installation, keys: list[str], count: int) -> Iterator[None]:
    with ExitStack() as stack:
        for number in range(count):
            key = keys[number // PAGES_A_PERSON]
            _open(running, key, "tables@0", stack)
        yield


def _open(running: Installation, key: str, topic: str, stack: ExitStack):
    """Open a page that waits for a topic, and hear that it does."""
    page = _ask(running, key, f"/news?on={topic}", stack)
    assert page.status == 200, page.status
    assert page.readline().startswith(b": listening")
    return page


def _ask(running: Installation, key: str, path: str, stack: ExitStack) -> HTTPResponse:
    address = urlsplit(running.url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=60)
    stack.callback(connection.close)
    headers = {"Cookie": f"deltaweb_session={key}", "HX-Request": "true"}
    connection.request("GET", path, headers=headers)
    return connection.getresponse()


# === Processes ===


def _tree(pid: int) -> list[int]:
    """A process, and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [pid, *(one for child in children.split() for one in _tree(int(child)))]


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").replace("\0", " ")


def _cpu_s(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        ticks += sum(int(f) for f in stat.rpartition(")")[2].split()[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def _percent(pids: list[int]) -> float:
    """The processor time of some processes for a while, as a part of one core."""
    wait_for(lambda: _is_still(pids))  # what began has come to rest
    used, start = _cpu_s(pids), time.monotonic()
    time.sleep(WATCHED_S)
    return 100 * (_cpu_s(pids) - used) / (time.monotonic() - start)


def _is_still(pids: list[int]) -> bool:
    used = _cpu_s(pids)
    time.sleep(1.0)
    return _cpu_s(pids) - used < 0.05
