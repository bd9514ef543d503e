"""Tables that are broken on purpose, one way each: what the rules of health look for.

A `TableBuilder` makes version 0. What no operation of the library would do is written
to the log afterwards. All times are before `NOW`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from deltaweb.delta.log.paths import checkpoint_name, checksum_name, commit_name
from deltaweb.delta.writing.checkpoint.builder import (
    CheckpointRequest,
    build_checkpoint,
)
from deltaweb.health.facts import (
    ListedFolder,
    ScheduledVacuum,
    StoppedReader,
    UsedColumn,
)
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import Action, LogBuilder, add, remove
from tests.support.logs.local_logs import stats_of
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import TableBuilder

NOW: Final = datetime(2026, 11, 29, 12, tzinfo=UTC)
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
HOUR: Final = timedelta(hours=1)
MINUTE: Final = timedelta(minutes=1)
LARGE: Final = 200 * MIB
ROWS: Final = 1_000  # of each file

Break = Callable[[LogBuilder], object]


def plain() -> TableBuilder:
    return TableBuilder().columns(id="long", note="string", day="string")


def by_day() -> TableBuilder:
    return plain().partitioned_by("day")


@dataclass(frozen=True, kw_only=True)
class BrokenTable:
    """A table that is broken.

    Attributes:
        steps: What is done to its log after version 0.
        known: Facts that an index does not have.
        limits: Thresholds that differ from the usual ones.
        pause: Between two commits; the newest is one such pause before `NOW`.
    """

    steps: tuple[Break, ...] = ()
    builder: Callable[[], TableBuilder] = plain
    known: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    pause: timedelta = MINUTE

    def build(self) -> DeltaTable:
        """Make the table in memory."""
        store = MemoryTableStore()
        self.builder().at(store).build()
        log = LogBuilder(store)
        for step in self.steps:
            step(log)
        _date(log, self.pause)
        return log.table


def _date(log: LogBuilder, pause: timedelta) -> None:
    """Give each commit that has no time one before that of the next commit."""
    next_ms = int(NOW.timestamp() * 1000)
    times = log.store.modification_times
    for version in reversed(range(next_version(log))):
        name, pause_ms = commit_name(version), pause // timedelta(milliseconds=1)
        next_ms = times.setdefault(name, next_ms - pause_ms)


def next_version(log: LogBuilder) -> int:
    names = (name for name in log.store.log_files if name[:20].isdigit())
    return 1 + max(int(name[:20]) for name in names)


# === Steps ===


def file(name: object, size: int = LARGE, *, day: str | None = None) -> Action:
    values = {} if day is None else {"day": day}
    stats = stats_of(ROWS, {"id": 1, "note": "a"}, {"id": 9, "note": "z"})
    return add(f"{name}.parquet", size=size, partitionValues=values, stats=stats)


def commit(*actions: Action, ago: timedelta | None = None) -> Break:
    """Commit actions, some time ago."""

    def step(log: LogBuilder) -> None:
        version = next_version(log)
        log.commit(version, *actions)
        if ago is not None:
            log.time(version, int((NOW - ago).timestamp() * 1000))

    return step


def files(count: int, size: int = LARGE) -> Break:
    return commit(*(file(number, size) for number in range(count)))


def days(count: int, *, files: int, size: int) -> Iterable[Action]:
    for day in range(count):
        for number in range(files):
            yield file(f"{day}-{number}", size, day=f"d{day}")


def commits(count: int) -> Break:
    """Commit one large file after the other."""

    def step(log: LogBuilder) -> None:
        for _ in range(count):
            version = next_version(log)
            log.commit(version, file(f"v{version}"))

    return step


def checkpoint(version: int | None = None) -> Break:
    return lambda log: build_checkpoint(
        log.store, CheckpointRequest(now=NOW, version=version)
    )


def lose(*versions: int) -> Break:
    """Delete commits."""

    def step(log: LogBuilder) -> None:
        for version in versions:
            log.delete(commit_name(version))

    return step


def checksum(**fields: object) -> Break:
    def step(log: LogBuilder) -> None:
        name = checksum_name(next_version(log) - 1)
        log.store.put(name, json.dumps(fields).encode())

    return step


def without_statistics(count: int) -> Break:
    return commit(*(add(f"{number}.parquet", size=LARGE) for number in range(count)))


def without_notes(count: int) -> Break:
    stats = stats_of(ROWS, {"id": 1}, {"id": 9})
    return commit(
        *(add(f"{number}.parquet", size=LARGE, stats=stats) for number in range(count))
    )


def with_long_statistics(count: int, length: int) -> Break:
    text = "x" * length
    stats = stats_of(ROWS, {"id": 1, "note": text}, {"id": 9, "note": text})
    return commit(
        *(add(f"{number}.parquet", size=LARGE, stats=stats) for number in range(count))
    )


def removed(count: int, ago: timedelta) -> Break:
    time_ms = int((NOW - ago).timestamp() * 1000)
    return commit(
        *(
            remove(f"{number}.parquet", size=LARGE, deletionTimestamp=time_ms)
            for number in range(count)
        ),
        ago=ago,
    )


def listing(**fields: int) -> ListedFolder:
    """Return what a listing found: nothing, but for some numbers."""
    nothing = dict.fromkeys(
        ("removed_files", "removed_bytes", "num_lost", "orphan_files", "orphan_bytes"),
        0,
    )
    return ListedFolder(listed_at=NOW - HOUR, **{**nothing, **fields})


def with_vectors() -> TableBuilder:
    rows = {"n": [*range(50_000)]}
    table = TableBuilder().property("delta.enableDeletionVectors").rows(**rows)
    return table.then(lambda one: one.delete("n < 20000"))


def with_identity() -> TableBuilder:
    column = {
        "name": "k",
        "type": "long",
        "nullable": True,
        "metadata": {
            "delta.identity.start": 1,
            "delta.identity.step": 1,
            "delta.identity.highWaterMark": (1 << 63) - 1_000_000,
            "delta.identity.allowExplicitInsert": False,
        },
    }
    schema = json.dumps({"type": "struct", "fields": [column]})
    return plain().then(lambda one: _redefine(one, schema))


def _redefine(table: DeltaTable, schema: str) -> None:
    store = table.store
    assert isinstance(store, MemoryTableStore)
    actions = [json.loads(line) for line in store.read(commit_name(0)).splitlines()]
    for action in actions:
        if "metaData" in action:
            action["metaData"]["schemaString"] = schema
    store.put(commit_name(0), b"\n".join(json.dumps(one).encode() for one in actions))


# === The tables ===

BROKEN: Final[Mapping[str, BrokenTable]] = {
    "84 files of 3 KiB": BrokenTable(steps=(files(84, 3 * KIB),)),
    "many small files among large ones": BrokenTable(
        steps=(
            commit(
                *(file(f"small-{number}", MIB) for number in range(400)),
                *(file(f"large-{number}") for number in range(100)),
            ),
        )
    ),
    "84 partitions of one small file": BrokenTable(
        builder=by_day, steps=(commit(*days(84, files=1, size=3 * KIB)),)
    ),
    "60 partitions of four small files": BrokenTable(
        builder=by_day, steps=(commit(*days(60, files=4, size=MIB)),)
    ),
    "one partition with nearly everything": BrokenTable(
        builder=by_day,
        steps=(
            commit(*(file(f"main-{one}", LARGE, day="main") for one in range(40))),
            commit(*days(9, files=1, size=LARGE)),
        ),
    ),
    "no checkpoint in 120 commits": BrokenTable(steps=(commits(120),)),
    "1,100 commits after the checkpoint": BrokenTable(
        steps=(commits(5), checkpoint(), commits(1_100))
    ),
    "a log of hourly commits since September": BrokenTable(
        steps=(
            commits(1_950),
            checkpoint(200),
            checkpoint(1_200),
            checkpoint(),
            commits(50),
        ),
        pause=HOUR,
    ),
    "no statistics of a column that recipients use": BrokenTable(
        steps=(without_notes(60),),
        known={"used_columns": (UsedColumn("note", "2 recipients filter by it"),)},
    ),
    "no statistics at all": BrokenTable(steps=(without_statistics(60),)),
    "statistics of long texts": BrokenTable(
        steps=(with_long_statistics(60, 20_000),), limits={"statistics_bytes": MIB}
    ),
    "files removed three weeks ago": BrokenTable(
        steps=(
            commit(*(file(one) for one in range(50)), ago=timedelta(days=40)),
            removed(30, timedelta(days=21)),
        )
    ),
    "removed files in the folder": BrokenTable(
        steps=(files(20),),
        known={"listing": listing(removed_files=90, removed_bytes=4 * GIB, num_lost=3)},
    ),
    "orphans in the folder": BrokenTable(
        steps=(files(20),),
        known={"listing": listing(orphan_files=12, orphan_bytes=GIB)},
    ),
    "40 % of the rows are masked": BrokenTable(builder=with_vectors),
    "a vacuum ends versions tomorrow": BrokenTable(
        steps=(files(20),),
        known={
            "scheduled_vacuum": ScheduledVacuum(
                next_at=NOW + 15 * HOUR, hours=168.0, first_lost=38, last_lost=47
            )
        },
    ),
    "a hint without its checkpoint": BrokenTable(
        steps=(
            commits(12),
            checkpoint(),
            lambda log: log.delete(checkpoint_name(12)),
        )
    ),
    "a hint that is torn": BrokenTable(
        steps=(commits(3), lambda log: log.hint(b'{"version": 1'))
    ),
    "the newest commit but one is missing": BrokenTable(steps=(commits(6), lose(5))),
    "a hole in the history": BrokenTable(
        steps=(commits(9), checkpoint(), commits(1), lose(4, 5))
    ),
    "a checksum of one file too many": BrokenTable(
        steps=(files(3), checksum(numFiles=4, numMetadata=1, numProtocol=1))
    ),
    "a checksum that is torn": BrokenTable(
        steps=(
            files(3),
            lambda log: log.store.put(checksum_name(1), b'{"numFiles": 3'),
        )
    ),
    "a feature that nobody knows": BrokenTable(
        steps=(
            files(3),
            commit(
                {
                    "protocol": {
                        "minReaderVersion": 3,
                        "minWriterVersion": 7,
                        "readerFeatures": ["tableTeleport"],
                        "writerFeatures": ["tableTeleport"],
                    }
                }
            ),
        )
    ),
    "a client that read it last week": BrokenTable(
        steps=(files(3),),
        known={
            "stopped_readers": (
                StoppedReader(
                    client="Polars 1.30",
                    version=1,
                    feature="typeWidening",
                    recipients=("globex",),
                ),
            )
        },
    ),
    "hourly writes that stopped in October": BrokenTable(
        steps=tuple(
            commit(file(one), ago=timedelta(days=30, hours=90 - one))
            for one in range(90)
        )
    ),
    "an identity column near its end": BrokenTable(builder=with_identity),
    "small files, and a missing commit": BrokenTable(
        steps=(files(110, KIB), commits(3), lose(3))
    ),
}
