"""A hundred people at work: `python -m tests.benchmarks load [seconds]`.

`deltaweb serve` has two web processes, PostgreSQL and Redis (of `tests.servers`), and a
catalogue of 5,000 tables. Half of the people are editors, the others viewers who see a
private namespace only by grants. Each opens a page every 5 s; one request in twenty
writes. What asks has the lowest priority, and a time is that from the request until the
last byte of its answer.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pyarrow as pa

from deltaweb.table import DeltaTable
from tests.support.processes.installation import Installation, manage, serving, wait_for

NUM_PEOPLE: Final = 100
EVERY_S: Final = 5.0
WARM_S: Final = 15.0
MEASURED_S: Final = 90.0
WRITES: Final = 0.05
GOAL_S: Final = 1.0
NUM_TABLES: Final = 12  # of each namespace, with data
VERSIONS: Final = 8
TOKEN: Final = "b" * 32  # any secret: of the cookie and of the header alike
VARIABLES: Final = ("DELTAWEB_DATABASE_URL", "DELTAWEB_BROKER_URL")
PEOPLE: Final = """
import json, time
from datetime import UTC, datetime
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from apps.accounts.lifetimes.sessions import BEGAN_AT
from apps.accounts.models import Group, Membership, User
from apps.tables.models import Grant, Namespace, Table
from tests.benchmarks.large_catalogue import fill_catalogue
fill_catalogue(5_000)
now = datetime.now(UTC)
Namespace.objects.filter(name="closed").update(is_private=True)
group = Group.objects.create(name="analysts", created_at=now)
given = {"right": "view", "given_by": "bench", "given_at": now}
closed = list(Table.objects.filter(namespace="closed").order_by("name"))
Grant.objects.bulk_create(Grant(group=group, table=one, **given) for one in closed[:6])
people = []
for number in range(NUM_PEOPLE):
    role = User.Role.VIEWER if number % 2 else User.Role.EDITOR
    user = User.objects.create(
        username=f"person-{number}", role=role, password="!", last_seen_at=now
    )
    if role == User.Role.VIEWER:
        Membership.objects.create(group=group, user=user, since=now)
        own = closed[6 + number % 6]
        Grant.objects.create(user=user, table=own, **given)
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store[BEGAN_AT] = time.time()
    store.create()
    seen = [one.name for one in closed[:6]] if role == User.Role.VIEWER else []
    people.append({"key": store.session_key, "closed": seen})
print("PEOPLE " + json.dumps(people))
"""
OF_A_TABLE: Final = (
    *("", "", "", "history", "schema", "files", "data", "partitions"),
    *("skipping", "readers", "history/3", "compare/2...4"),
)
OF_ALL: Final = (
    *("/", "/tables/", "/tables/?sort=-size", "/tables/?q=table_001"),
    *("/tables/?namespace=team_007", "/tables.json?page=20", "/search?q=customer"),
    *("/jobs/", "/health/", "/what-changed/", "/notifications/", "/requests/listed"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and what came of it."""

    at_s: float
    path: str
    status: int
    spent_s: float


def main(*words: str) -> None:
    """Start the servers, let people work, and print what they waited for."""
    if VARIABLES[0] not in os.environ:
        own = (sys.executable, "-m", "tests.benchmarks", "load", *words)
        servers = (sys.executable, "-m", "tests.servers", *own)
        sys.exit(subprocess.run(servers, check=False).returncode)
    measured_s = float(words[0]) if words else MEASURED_S
    variables: dict[str, Any] = {name: os.environ[name] for name in VARIABLES}
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        home, lake = Path(folder) / "home", Path(folder) / "lake"
        home.mkdir(mode=0o700)
        for space in ("open", "closed"):
            for number in range(NUM_TABLES):
                _make_table(lake / space / f"table_{number:02}")
        variables |= {"LAKE": str(lake), "PYTHONPATH": str(Path.cwd())}
        with serving(home, **variables) as running:
            is_indexed = lambda: _num_indexed(home, variables) == 2 * NUM_TABLES  # noqa: E731 (said once)
            assert wait_for(is_indexed, timeout_s=300), running.log
            code = PEOPLE.replace("NUM_PEOPLE", str(NUM_PEOPLE))
            told = manage(home, "shell", "--no-imports", "-c", code, **variables)
            assert told.returncode == 0, told.stderr
            [line] = [li for li in told.stdout.splitlines() if li.startswith("PEOPLE")]
            found = _work(running, json.loads(line.split(" ", 1)[1]), measured_s)
    sys.exit(_report(found))


def _work(running: Installation, people: list[Any], measured_s: float) -> list[Asked]:
    """Let people ask until the time is over; what they ask at first is left out."""
    os.nice(19)
    began_s = time.monotonic()
    end_s = began_s + WARM_S + measured_s

    def work(number: int) -> list[Asked]:
        choose = random.Random(number)
        due_s = began_s + EVERY_S * number / NUM_PEOPLE
        asked = []
        while due_s < end_s:
            time.sleep(max(0.0, due_s - time.monotonic()))
            asked.append(_ask(running, people[number], choose))
            due_s = max(due_s + EVERY_S, time.monotonic())
        return asked

    with ThreadPoolExecutor(NUM_PEOPLE) as pool:
        every = [one for found in pool.map(work, range(NUM_PEOPLE)) for one in found]
    return [one for one in every if one.at_s >= began_s + WARM_S]


def _ask(running: Installation, person: Any, choose: random.Random) -> Asked:  # noqa: ANN401 (of JSON)
    space = "closed" if person["closed"] and choose.random() < 0.4 else "open"
    name = choose.choice(person["closed"]) if space == "closed" else "table_03"
    table = f"/t/{space}/{name}"
    method, headers = "GET", {"Cookie": _cookie(person["key"])}
    if choose.random() < WRITES:
        method, headers["X-CSRFToken"] = "POST", TOKEN
        path = choose.choice([f"{table}/pin", f"{table}/unpin", "/notifications/read"])
    elif choose.random() < 0.5:
        path = choose.choice(OF_ALL)
    else:
        path = f"{table}/{choose.choice(OF_A_TABLE)}"
    address = urlsplit(running.url)
    started_s = time.monotonic()
    connection = HTTPConnection(str(address.hostname), address.port, timeout=60)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        status = answer.status
    except (OSError, HTTPException):
        status = 599
    finally:
        connection.close()
    shown = path if path in OF_ALL else f"{method} /t/.../{path.rsplit(name)[-1][1:]}"
    return Asked(started_s, shown, status, time.monotonic() - started_s)


def _cookie(key: str) -> str:
    return f"deltaweb_session={key}; deltaweb_csrf={TOKEN}"


def _report(found: list[Asked]) -> int:
    """Print the slowest pages, and all together beside the goal."""
    by_path: dict[str, list[float]] = {}
    for one in found:
        by_path.setdefault(one.path, []).append(one.spent_s)
    slowest_first = sorted(by_path, key=lambda path: -_p95(by_path[path]))
    for path in slowest_first:
        times = by_path[path]
        print(f"     {path:36} p50 {_p50(times):6.3f} s, p95 {_p95(times):6.3f} s")
    failed = [one for one in found if one.status >= 500]
    refused = [one for one in found if 400 <= one.status < 500]
    times = [one.spent_s for one in found]
    num_writes = sum(one.path.startswith("POST") for one in found)
    is_missed = _p95(times) > GOAL_S or bool(failed) or bool(refused)
    print(
        f"{'MISS' if is_missed else 'ok  '} {NUM_PEOPLE} people, {len(found)} requests"
        f" ({num_writes} writes): p50 {_p50(times):.3f} s, p95 {_p95(times):.3f} s,"
        f" most {max(times):.3f} s; {len(failed)} of status 5xx, {len(refused)} of 4xx"
        f" {sorted({(one.status, one.path) for one in refused + failed})};"
        f" goal {GOAL_S:g} s"
    )
    return int(is_missed)


def _p50(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def _p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95) - 1 if len(times) > 20 else -1]


def _num_indexed(home: Path, variables: dict[str, Any]) -> int:
    code = (
        "from apps.tables.models import Table;"
        "print('N', Table.objects.filter(state='INDEXED').count())"
    )
    told = manage(home, "shell", "--no-imports", "-c", code, **variables).stdout
    time.sleep(2)
    return int(told.split()[-1]) if told.split() else 0


def _make_table(place: Path) -> None:
    table = DeltaTable.create(str(place), _rows(0).schema)
    for number in range(VERSIONS):
        table.append(_rows(number))


def _rows(number: int) -> pa.Table:
    """The rows of a file."""
    return pa.table(
        {
            "customer_id": pa.array(range(number, number + 500), pa.int64()),
            "country": [f"C{one % 50}" for one in range(500)],
            "total": [one / 7 for one in range(500)],
        }
    )
