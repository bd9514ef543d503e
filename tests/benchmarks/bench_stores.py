"""Two drivers of S3, side by side: `python -m tests.benchmarks stores`.

What commits, scans and small reads ask of a store, by s3fs and by obstore, on an S3
server of this machine (SeaweedFS): seconds of CPU of this process, which hold on any
network, and of the clock, which do not. Both send as many requests: one a list, a read
and a creation, and of a scan one a table and two a folder. What was taken of each, and
why, is in `deltaweb.storage.objects.quick`.

On two busy cores a scan of 10,000 tables took s3fs 16.7 s of CPU and obstore 2.7 s,
1,000 commits 4.2 s and 0.5 s, 2,000 small reads 7.3 s and 0.4 s.
"""

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import fsspec
import obstore

from deltaweb.storage.data_path import LOG_FOLDER
from deltaweb.storage.objects.scan import AT_ONCE, find_below, find_objects
from tests.support.stores.drivers import FsspecDriver, ObstoreDriver, s3_by_obstore
from tests.support.stores.s3_server import S3Server
from tests.support.stores.seaweed_server import fill_lake, running_seaweed

NUM_TABLES: Final = 10_000
NUM_COMMITS: Final = 1_000
NUM_READS: Final = 2_000
COMMIT: Final = b'{"commitInfo":{"operation":"WRITE"}}\n' * 20
NAMES: Final = [f"{version:020}.json" for version in range(NUM_READS)]


def main() -> None:
    """Measure and print both drivers, a line for each thing that is asked."""
    with (
        tempfile.TemporaryDirectory(prefix="deltaweb-stores") as folder,
        running_seaweed(Path(folder)) as server,
    ):
        _scans(server)
        _commits(server)
        _reads(server)


def _scans(server: S3Server) -> None:
    url = fill_lake(server, num_tables=NUM_TABLES)
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    store = s3_by_obstore(bucket, server.options)
    by_obstore = partial(_scan_by_obstore, store, prefix.rstrip("/"))
    _compare(
        f"scan of {NUM_TABLES:,} tables",
        lambda: find_objects(url, server.options),
        by_obstore,
    )


def _scan_by_obstore(driver: ObstoreDriver, root: str) -> None:
    store = driver.store

    def visit(parts: tuple[str, ...]) -> list[str] | None:
        prefix = "".join(f"{part}/" for part in (root, *parts) if part)
        if next(iter(obstore.list(store, f"{prefix}{LOG_FOLDER}/", chunk_size=1)), ()):
            return None
        found = obstore.list_with_delimiter(store, prefix)
        return [one.rstrip("/").rpartition("/")[2] for one in found["common_prefixes"]]

    found = find_below("", visit, at_once=AT_ONCE)
    assert len(found.tables) == NUM_TABLES


def _commits(server: S3Server) -> None:
    """Each lists the log from the newest version on, and creates the next."""

    def commit(driver: FsspecDriver | ObstoreDriver) -> None:
        for version in range(NUM_COMMITS):
            driver.list_from(f"t/{LOG_FOLDER}", NAMES[max(0, version - 1)])
            driver.create(f"t/{LOG_FOLDER}/{NAMES[version]}", COMMIT)

    old, new = server.new_bucket(), server.new_bucket()
    _compare(
        f"{NUM_COMMITS:,} commits",
        lambda: commit(FsspecDriver(f"s3://{old}", server.options)),
        lambda: commit(s3_by_obstore(new, server.options)),
    )


def _reads(server: S3Server) -> None:
    bucket = server.new_bucket()
    driver = s3_by_obstore(bucket, server.options)
    keys = [f"t/{LOG_FOLDER}/{name}" for name in NAMES]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        [*pool.map(lambda key: driver.create(key, COMMIT), keys)]

        def by_obstore() -> None:
            assert {*pool.map(driver.read, keys)} == {COMMIT}

        def by_s3fs() -> None:
            fs = fsspec.filesystem("s3", **server.options)
            found = fs.cat([f"{bucket}/{key}" for key in keys])
            assert {*found.values()} == {COMMIT}

        _compare(f"{NUM_READS:,} small reads", by_s3fs, by_obstore)


def _compare(
    what: str, by_s3fs: Callable[[], object], by_obstore: Callable[[], object]
) -> None:
    for name, call in (("s3fs", by_s3fs), ("obstore", by_obstore)):
        before_s, cpu_s = time.perf_counter(), time.process_time()
        call()
        took_s = time.perf_counter() - before_s
        cpu_s = time.process_time() - cpu_s
        print(f"{what:24} {name:8} {cpu_s:6.2f} s of CPU {took_s:7.2f} s", flush=True)


if __name__ == "__main__":
    main()
