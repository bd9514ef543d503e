"""How long pages take on the server: `python -m tests.benchmarks pages`.

A scenario fills a database of its own and names the pages it measures. Each page is
asked for once to warm up, then `REPEATS` times; the median counts, and the goal of
every page is 150 ms.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

GOAL_MS = 150.0
REPEATS = 9
NUM_TABLES = 5_000
COLUMNS_PER_TABLE = 20
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Page:
    """A page to measure."""

    label: str
    path: str


def fill_catalogue() -> Iterable[Page]:
    """5,000 indexed tables in 50 namespaces, 100,000 columns."""
    from apps.tables.models import ColumnWords, Commit, Table, TableColumn

    tables = [
        Table(
            namespace=f"team_{number % 50:02}",
            name=f"table_{number:05}",
            location=f"/lake/team_{number % 50:02}/table_{number:05}",
            description=f"What team {number % 50} keeps in table {number}",
            created_at=NOW,
            probe_due_at=NOW,
            state=Table.State.INDEXED,
            version=number % 900,
            latest_version_seen=number % 900,
            committed_at=NOW - timedelta(minutes=number),
            indexed_at=NOW,
            num_files=number,
            size_bytes=number << 20,
            num_records=number * 1000,
            num_columns=COLUMNS_PER_TABLE,
            summary={
                "readable_runs": [[0, number % 900, "READABLE", ""]],
                "commits_30d": [day % 7 for day in range(30)],
                "partitions": [
                    {"values": {"day": f"2026-11-{day:02}"}, "files": 1, "bytes": 1}
                    for day in range(200)
                ],
            },
        )
        for number in range(NUM_TABLES)
    ]
    Table.objects.bulk_create(tables, batch_size=500)
    Commit.objects.bulk_create(
        [
            Commit(
                table=table,
                version=table.version or 0,
                committed_at=NOW,
                operation="WRITE",
                user_name="etl-nightly",
            )
            for table in tables
        ],
        batch_size=1000,
    )
    TableColumn.objects.bulk_create(
        [
            TableColumn(
                table=table,
                position=position,
                path=f"column_{position}" if position else "customer_id",
                type_text="bigint",
            )
            for table in tables
            for position in range(COLUMNS_PER_TABLE)
        ],
        batch_size=2000,
    )
    ColumnWords.objects.bulk_create(
        [ColumnWords(table=table, paths="customer_id") for table in tables],
        batch_size=2000,
    )
    return [
        Page("catalogue, 5,000 tables", "/tables/"),
        Page("catalogue, last page", "/tables/?page=100"),
        Page("catalogue by size", "/tables/?sort=size"),
        Page("catalogue, a namespace", "/tables/?namespace=team_07"),
        Page("catalogue, search of a name", "/tables/?q=table_0123"),
        Page("catalogue, search of a column", "/tables/?q=customer"),
        Page("catalogue as JSON", "/tables.json"),
        Page("search, 5,000 columns found", "/search?q=customer"),
    ]


def fill_table() -> Iterable[Page]:
    """A table of 100,000 files in 1,000 partitions and 10,000 commits, indexed."""
    from apps.tables.models import Table
    from tests.benchmarks.large_table import (
        COMPARED,
        write_comparison,
        write_large_table,
    )

    table = Table.objects.create(
        name="large",
        location="/lake/large",
        created_at=NOW,
        probe_due_at=NOW,
        state=Table.State.INDEXED,
    )
    write_large_table(table, now=NOW)
    write_comparison(table, now=NOW)
    compare = "/t/default/large/compare/{}...{}".format(*COMPARED)
    return [
        Page("dashboard", "/"),
        Page("overview", "/t/default/large/"),
        Page("overview, an older version", "/t/default/large/?v=5000"),
        Page("overview as JSON", "/t/default/large.json"),
        Page("schema of 200 columns", "/t/default/large/schema"),
        Page("history", "/t/default/large/history"),
        Page("history, a search", "/t/default/large/history?q=rows&op=MERGE"),
        Page("history, far back", "/t/default/large/history?before=300"),
        Page("one commit", "/t/default/large/history/9000"),
        Page("files by size", "/t/default/large/files"),
        Page("files by path, page 1,000", "/t/default/large/files?sort=path&page=1000"),
        Page("files of a partition", "/t/default/large/files?partition=day=2026-01-07"),
        Page("files above a size", "/t/default/large/files?min=1MiB&sort=modified"),
        Page("data, waiting for its job", "/t/default/large/data"),
        Page("partitions, 1,000", "/t/default/large/partitions"),
        Page("partitions by size, a search", "/t/default/large/partitions?q=2026-01"),
        Page("partitions as JSON", "/t/default/large/partitions.json"),
        Page("a counted column", "/t/default/large/schema/column_0"),
        Page("a random column", "/t/default/large/schema/column_1"),
        Page("the partition column", "/t/default/large/schema/day"),
        Page("a column as JSON", "/t/default/large/schema/column_1.json"),
        Page("two versions, 100,000 files differ", compare),
        Page("two versions, removed files", f"{compare}?kind=removed&page=900"),
        Page("two versions, schemas", f"{compare}?view=schema"),
        Page("two versions, before rows are read", f"{compare}?view=rows"),
        Page("two versions, changed rows", f"{compare}?view=rows&key=column_0"),
        Page("two versions, rows as JSON", compare + ".json?view=rows&key=column_0"),
    ]


SCENARIOS: list[Callable[[], Iterable[Page]]] = [fill_catalogue, fill_table]


def main() -> None:
    """Fill a database, measure every page and print it beside its goal."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client
    from django.test.utils import override_settings

    from apps.accounts.models import User

    call_command("migrate", verbosity=0)
    client = Client()
    client.force_login(User.objects.create(username="bench", role=User.Role.ADMIN))
    missed = 0
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        for fill in SCENARIOS:
            for page in fill():
                milliseconds = _median_ms(client.get, page.path)
                missed += milliseconds > GOAL_MS
                mark = "" if milliseconds <= GOAL_MS else "   MISSED"
                print(f"{page.label:40} {milliseconds:7.1f} ms  of {GOAL_MS:.0f}{mark}")
    if missed:
        sys.exit(f"{missed} pages missed their goal.")


def _median_ms(get: Callable[[str], object], path: str) -> float:
    get(path)
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        answer = get(path)
        times.append(time.perf_counter() - started)
        if getattr(answer, "status_code", 0) != 200:
            sys.exit(f"{path} answered {getattr(answer, 'status_code', None)}.")
    return 1000 * statistics.median(times)
