"""A scan of a bucket with many tables: `python -m tests.benchmarks scan`.

Tables of one commit each lie in namespaces of a hundred, on an S3 server of this
machine (SeaweedFS). They are found and registered by what the job runs, into SQLite on
disk; then the lake is scanned again, as its schedule does.

Before that, `LAKE=s3://... deltaweb serve` starts in an empty home, as on an operator's
first day: the seconds count from there until the server answers, and until the page of
the catalog shows tables.

On two cores that 12 processes waited for, the first scan took 50.3 s (24.1 s of CPU),
with its first tables in the catalog after 0.5 s, and the second 33.8 s (17.6 s of CPU),
by 1.02 requests a table.
"""

import os
import re
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from apps.pages.actions import COMMAND_LINE, Stamp

if TYPE_CHECKING:
    from tests.support.stores.s3_server import S3Server

NUM_TABLES = 10_000
GOAL_S = 120.0
GOAL_FIRST_S = 5.0  # until the catalog shows some
FIRST_TABLE = re.compile(r'href="/t/n\d{3}/t\d{5}/"')
GOAL_REQUESTS = 3.0  # a table
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
STAMP = Stamp(COMMAND_LINE, NOW)


def main(part: str = "") -> None:
    """Measure all parts, or only `start`, and print the figures with their goals."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    import django

    django.setup()
    from django.core.management import call_command

    from tests.support.stores.seaweed_server import fill_lake, running_seaweed

    call_command("migrate", verbosity=0)
    with (
        tempfile.TemporaryDirectory(prefix="deltaweb-scan") as folder,
        running_seaweed(Path(folder)) as server,
    ):
        url = fill_lake(server, num_tables=NUM_TABLES)
        missed = _measure_start(server, url)
        if part != "start":
            missed += _measure(server, url)
    if missed:
        sys.exit(f"{missed} rows missed their goal.")


def _measure_start(server: "S3Server", url: str) -> int:
    from tests.support.processes.installation import page_opener, serving, wait_for
    from tests.support.stores.s3_server import ACCESS_KEY, SECRET_KEY

    with tempfile.TemporaryDirectory(prefix="deltaweb-first") as home:
        begun_s = time.perf_counter()
        with serving(
            Path(home),
            ready=None,
            LAKE=url,
            AWS_ACCESS_KEY_ID=ACCESS_KEY,
            AWS_SECRET_ACCESS_KEY=SECRET_KEY,
            AWS_ENDPOINT_URL=server.url,
            AWS_DEFAULT_REGION="us-east-1",
        ) as installation:
            answered_s = time.perf_counter() - begun_s
            link = Path(home) / "sign-in-link"
            browser = page_opener()
            browser.open(link.read_text(encoding="utf-8").strip()).close()

            def has_tables() -> bool:
                with browser.open(f"{installation.url}/tables/") as page:
                    return FIRST_TABLE.search(page.read().decode()) is not None

            is_there = wait_for(has_tables)
            first_s = time.perf_counter() - begun_s
    is_good = is_there and first_s <= GOAL_FIRST_S
    print(
        f"start        first answer after {answered_s:.1f} s, the catalog with tables"
        f" after {first_s:.1f} s, goal {GOAL_FIRST_S:.0f} s"
        f"{'' if is_good else '  MISSED'}"
    )
    return not is_good


def _measure(server: "S3Server", url: str) -> int:
    from apps.tables.catalogue.lakes.scanning import scan_lake
    from apps.tables.catalogue.lakes.services import add_lake
    from apps.tables.models import Table
    from apps.tables.storage.connections import add_connection
    from tests.support.stores.s3_server import counted_requests

    options = dict(text.split("=", 1) for text in server.option_texts)
    add_connection(name="lake", prefix=url, options=options, stamp=STAMP)
    lake = add_lake(url, stamp=STAMP)
    missed = 0
    for what in ("first scan", "second scan"):
        with counted_requests() as requests:
            before_s, cpu_s = time.perf_counter(), time.process_time()
            first_s: list[float] = []

            def look(
                *_: object, seen: list[float] = first_s, at: float = before_s
            ) -> None:
                """Note when the first tables are in the catalog."""
                if not seen and Table.objects.filter(lake=lake).exists():
                    seen.append(time.perf_counter() - at)

            report = scan_lake(lake, stamp=STAMP, on_progress=look)
            took_s = time.perf_counter() - before_s
            cpu_s = time.process_time() - cpu_s
        a_table = len(requests) / NUM_TABLES
        is_good = took_s <= GOAL_S and a_table <= GOAL_REQUESTS
        is_good = is_good and max(first_s, default=0.0) <= GOAL_FIRST_S
        missed += not is_good or report.num_found != NUM_TABLES
        print(
            f"{what:12} {took_s:7.1f} s ({cpu_s:.1f} s of CPU), goal {GOAL_S:.0f} s;"
            f" first tables after {max(first_s, default=0.0):.1f} s, goal"
            f" {GOAL_FIRST_S:.0f} s;"
            f" {a_table:.2f} requests a table, goal {GOAL_REQUESTS:.0f};"
            f" {len(report.registered):,} registered, {len(report.known):,} known"
            f"{'' if is_good else '  MISSED'}"
        )
    assert Table.objects.filter(lake=lake).count() == NUM_TABLES
    return missed


if __name__ == "__main__":
    main()
