"""How long health takes: `python -m tests.benchmarks health`.

a table     from the index's summary to findings; the largest summary that there is
all tables  5,000 tables examined one after the other, findings stored, as each day
the page    of all findings of these tables, and what else lists them
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from deltaweb.health.examine import examine
from deltaweb.health.facts import HealthFacts, milliseconds
from deltaweb.health.finding import Finding
from deltaweb.health.thresholds import Thresholds

NOW: Final = datetime(2026, 11, 29, 12, tzinfo=UTC)
NUM_TABLES: Final = 5_000
REPEATS: Final = 25
OF_A_TABLE_MS: Final = 20.0
OF_THE_PAGE_MS: Final = 2_000.0
MIB: Final = 1 << 20
DAY: Final = timedelta(days=1)
PAGES: Final[Mapping[str, str]] = {
    "health page of 5,000 tables": "/health/",
    "the same, last page": "/health/?page=100",
    "the same, one rule": "/health/?rule=small-files",
    "the same as JSON": "/health.json",
}


def summary(number: int = 0) -> dict[str, Any]:
    """Return the summary of a table of many files, partitions, columns and commits."""
    days = range(60)
    num_small = 10_000 * (number % 2)
    times = [
        [day, milliseconds(NOW - (60 - day) * DAY), day, day * MIB] for day in days
    ]
    return {
        "size_histogram": {
            "edges": [0, MIB, 2 * MIB, 128 * MIB, 256 * MIB],
            "counts": [num_small, 0, 0, 90_000],
            "bytes": [num_small * 1000, 0, 0, 90_000 * 128 * MIB],
        },
        "target_file_size_bytes": 128 * MIB,
        "num_partitions": 1_000,
        "partitions": [
            {
                "values": {"day": f"2026-01-{day:03}"},
                "files": 100,
                "bytes": 128 * MIB,
                "rows": 1,
            }
            for day in range(200)
        ],
        "readable_runs": [[0, 20_000, "READABLE", ""]],
        "checksum": {"state": "MISSING", "differences": []},
        "clustering": ["column_1"],
        "health": {
            "log": {
                "first_commit": 0,
                "oldest_checkpoint": 10,
                "newest_checkpoint": 20_000 - 300 * (number % 3),
                "hint_version": 10,
                "is_hint_dangling": number % 5 == 0,
                "is_hint_broken": False,
                "retention_ms": 30 * DAY // timedelta(milliseconds=1),
                "is_cleaned": True,
                "checkpoint_interval": None,
            },
            "file_retention_ms": 7 * DAY // timedelta(milliseconds=1),
            "history": {
                "points": times,
                "oldest_removal_ms": times[0][1],
                "vacuum_cutoff_ms": None,
            },
            "writes": {
                "num_writes": 60,
                "first_ms": times[0][1],
                "last_ms": times[-1][1],
                "typical_gap_ms": 86_400_000,
                "longest_gap_ms": 86_400_000,
            },
            "statistics": {
                "bytes": 300 * MIB,
                "path_bytes": 10 * MIB,
                "num_without": 0,
                "columns": [[f"column_{one}", 50_000] for one in range(32)],
                "is_whole": True,
            },
            "vectors": {
                "num_files": 10,
                "size_bytes": MIB,
                "rows": 100_000,
                "deleted_rows": 60_000,
            },
            "identities": [],
            "refusal": "",
        },
    }


def findings(values: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return the findings of a table, from its summary on."""
    facts = HealthFacts.of_index(
        table="sales.orders",
        state="INDEXED",
        version=20_000,
        committed_at=NOW - DAY,
        num_files=100_000,
        size_bytes=90_000 * 128 * MIB,
        num_records=1,
        num_tombstones=0,
        partition_columns=["day"],
        summary=values,
    )
    return examine(facts, Thresholds(), NOW)


def main() -> None:
    """Measure a table, all tables, and the page, and print each beside its goal."""
    values = summary(1)
    if not findings(values):
        sys.exit("The table has no findings.")
    is_met = _report(
        "health of a table", _median_ms(lambda: findings(values)), OF_A_TABLE_MS
    )
    is_met = all([is_met, *_of_the_site()])
    if not is_met:
        sys.exit("A goal was missed.")


def _of_the_site() -> list[bool]:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client
    from django.test.utils import override_settings

    from apps.accounts.models import User
    from apps.tables.health.examining import examine_table
    from apps.tables.models import Table

    call_command("migrate", verbosity=0)
    Table.objects.bulk_create(
        [
            Table(
                namespace=f"team_{number % 50:02}",
                name=f"table_{number:05}",
                location=f"/lake/team_{number % 50:02}/table_{number:05}",
                created_at=NOW,
                probe_due_at=NOW,
                state=Table.State.INDEXED,
                version=20_000,
                committed_at=NOW - DAY,
                indexed_at=NOW,
                num_files=100_000,
                size_bytes=90_000 * 128 * MIB,
                partition_columns=["day"],
                summary=summary(number),
            )
            for number in range(NUM_TABLES)
        ],
        batch_size=200,
    )
    started = time.perf_counter()
    found = sum(examine_table(table, now=NOW) for table in Table.objects.iterator(200))
    each_ms = 1000 * (time.perf_counter() - started) / NUM_TABLES
    print(f"{found:,} findings of {NUM_TABLES:,} tables")
    met = [_report("health of one of 5,000 tables, stored", each_ms, OF_A_TABLE_MS)]
    client = Client()
    client.force_login(User.objects.create(username="bench", role=User.Role.ADMIN))
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        for label, path in PAGES.items():
            if client.get(path).status_code != 200:  # warm as well
                sys.exit(f"{path} answered {client.get(path).status_code}.")
            spent_ms = _median_ms(partial(client.get, path), repeats=5)
            met.append(_report(label, spent_ms, OF_THE_PAGE_MS))
    return met


def _median_ms(call: Callable[[], object], *, repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return 1000 * statistics.median(times)


def _report(label: str, spent_ms: float, goal_ms: float) -> bool:
    mark = "" if spent_ms <= goal_ms else "   MISSED"
    print(f"{label:42} {spent_ms:8.2f} ms  of {goal_ms:,.0f}{mark}")
    return not mark
