"""How long the catalogue takes: `python -m tests.benchmarks catalogue [words]`.

100,000 tables in 200 namespaces, 5,000 of them private. An administrator and a viewer,
who may see 200 of the private ones, list, sort, search and filter them, as a page and
by REST. Then come the other pages of the top level. The words choose among the rows;
`here` measures on the database of the variables alone, else both SQLite and PostgreSQL
are measured.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from typing import Any, Final

GOAL_MS: Final = 150.0
OF_OTHERS_MS: Final = 500.0
REPEATS: Final = 5
HERE: Final = "here"
LISTS: Final = {
    "first page": "",
    "by name, descending": "sort=-name",
    "by owner": "sort=owner",
    "by owner, descending": "sort=-owner",
    "by commit": "sort=commit",
    "by commit, newest first": "sort=-commit",
    "by rows": "sort=rows",
    "by rows, descending": "sort=-rows",
    "by size": "sort=size",
    "by size, descending": "sort=-size",
    "by files": "sort=files",
    "by files, descending": "sort=-files",
    "by state": "sort=state",
    "by state, descending": "sort=-state",
    "page 1,000": "page=1000",
    "page 1,000 by size": "sort=-size&page=1000",
    "last page": "page=1000000",
    "search of one name": "q=table_012345",
    "search of many names": "q=table_01",
    "search of a full name": "q=team_007.table_000",
    "search of a column of all": "q=customer",
    "search of a rare column": "q=measure_0815",
    "search of a description": "q=keeps+in+table+777",
    "search of nothing": "q=there-is-no-such-thing",
    "search, by size": "q=table_01&sort=-size",
    "facet namespace": "namespace=team_007",
    "facet state": "status=unreachable",
    "facet owner": "owner=owner_07",
    "facet tag": "tag=tag-8",
    "facet feature": "feature=rowTracking",
    "facet writer": "writer=etl-3",
    "facets and a search": "namespace=team_007&owner=owner_07&q=table",
}
OTHERS: Final = {
    "dashboard": ("/", False),
    "dashboard, REST": ("/dashboard.json", False),
    "filters of the catalogue": ("/tables/", True),
    "namespaces": ("/tables/tree", False),
    "tables of a namespace": ("/tables/tree?namespace=team_007", False),
    "health": ("/health/", False),
    "what changed": ("/what-changed/", False),
    "jobs": ("/jobs/", False),
    "search page, a table": ("/search?q=table_01234", False),
    "search page, a column of all": ("/search?q=customer", False),
    "search page, a rare column": ("/search?q=measure_0815", False),
    "activity": ("/activity/", False),
    "lakes": ("/tables/lakes/", False),
    "shares": ("/shares/", False),
    "requests": ("/requests/", False),
    "tables to request": ("/requests/listed", False),
    "notifications": ("/notifications/", False),
    "what is followed": ("/notifications/following/", False),
}
PART: Final = {"HX-Request": "true", "HX-Target": "catalog-facets"}


def main(*words: str) -> None:
    """Fill the database and print each time beside its goal."""
    if HERE not in words and "DELTAWEB_DATABASE_URL" not in os.environ:
        own = (sys.executable, "-m", "tests.benchmarks", "catalogue", HERE, *words)
        servers = (sys.executable, "-m", "tests.servers")
        lines = (own, (*servers, *own))
        codes = [subprocess.run(line, check=False).returncode for line in lines]
        sys.exit(any(codes))
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import override_settings

    from tests.benchmarks.large_catalogue import fill_catalogue

    call_command("migrate", verbosity=0)
    started = time.perf_counter()
    people = dict(zip(("administrator", "viewer"), fill_catalogue(), strict=True))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor != "sqlite" else "ANALYZE")
    print(f"{connection.vendor}: filled in {time.perf_counter() - started:.0f} s")
    missed = 0
    wanted = [word for word in words if word != HERE]
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        for label, call, goal_ms in _rows(people):
            if all(word in label for word in wanted):
                missed += _report(label, *_median_ms(call), goal_ms)
    if missed:
        sys.exit(f"{missed} rows missed their goal.")


def _rows(people: dict[str, Any]) -> Iterator[tuple[str, Callable[[], object], float]]:
    """Yield each label, what it measures, and its goal in milliseconds."""
    from django.test import Client

    clients = {who: Client() for who in people}
    for who, client in clients.items():
        client.force_login(people[who])
    for label, query in LISTS.items():
        for who, client in clients.items():
            page = partial(_get, client, f"/tables/?{query}")
            yield f"{who}: page, {label}", page, GOAL_MS
            rest = partial(_get, client, f"/tables.json?{query}")
            yield f"{who}: REST, {label}", rest, GOAL_MS
    for label, (path, is_part) in OTHERS.items():
        for who, client in clients.items():
            headers = PART if is_part else {}
            one = partial(_get, client, path, headers)
            yield f"{who}: {label}", one, OF_OTHERS_MS


def _get(
    client: Any,  # noqa: ANN401 (Django's)
    path: str,
    headers: Mapping[str, str] = {},
) -> None:
    answer = client.get(path, headers=headers)
    if answer.status_code not in {200, 403}:  # some pages are for editors
        sys.exit(f"{path} answered {answer.status_code}.")
    answer.getvalue()


def _median_ms(call: Callable[[], object]) -> tuple[float, float]:
    """Return the median time of a call that was made once before, and of its CPU."""
    walls, cpus = [], []
    with redirect_stdout(StringIO()):
        call()
        for _ in range(REPEATS):
            started, cpu = time.perf_counter(), time.process_time()
            call()
            cpus.append(time.process_time() - cpu)
            walls.append(time.perf_counter() - started)
            if sum(walls) > 5:  # there is no doubt any more
                break
    return 1000 * statistics.median(walls), 1000 * statistics.median(cpus)


def _report(label: str, wall_ms: float, cpu_ms: float, goal_ms: float) -> bool:
    """Print times, that of the CPU without the server of a database."""
    mark = "" if wall_ms <= goal_ms else "   MISSED"
    print(
        f"{label:52} {wall_ms:8.1f} ms  of {goal_ms:.0f}, CPU {cpu_ms:7.1f} ms{mark}",
        flush=True,
    )
    return bool(mark)
