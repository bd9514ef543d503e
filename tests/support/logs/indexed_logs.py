"""A table in memory whose every index goes on from the one before."""

import shutil
from pathlib import Path

from deltaweb.index.build.full import index_table
from deltaweb.index.folder.result import IndexResult
from tests.support.index.index_folders import contents
from tests.support.logs.delta_logs import Action, LogBuilder, add, metadata, protocol
from tests.support.logs.local_logs import stats_of, typed_schema
from tests.support.stores.counting_store import CountingStore

NOW_MS = 1_800_000_000_000
DAY_MS = 86_400_000
SCHEMA = typed_schema(id="long", p="integer")


class Indexed:
    """A table whose every index goes on from the one before."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = CountingStore()
        self.log = LogBuilder(self.store)
        self.folder: Path | None = None
        self.result: IndexResult | None = None
        self.now_ms = NOW_MS
        self.version = -1
        self.commit(
            protocol(),
            metadata(schemaString=SCHEMA, partitionColumns=["p"]),
            *(file_of(f"p={n}/{n}", n) for n in range(8)),
        )

    def commit(self, *actions: Action) -> "Indexed":
        self.version += 1
        self.log.commit(self.version, *actions)
        self.log.time(self.version, NOW_MS - DAY_MS + self.version)
        return self

    def index(self, max_bytes: int | None = None) -> IndexResult:
        """Go on from the last index; count what that reads."""
        folder = self.home / f"at-{len([*self.home.iterdir()])}"
        self.store.forget()
        self.result = index_table(
            self.log.table,
            folder,
            now_ms=self.now_ms,
            base=self.folder,
            max_bytes=max_bytes,
        )
        self.folder = folder
        return self.result

    def copied_to(self, home: Path) -> "Indexed":
        """The same table and its last index, beside this one."""
        assert self.folder is not None
        other = Indexed(home)
        other.store.log_files |= self.store.log_files
        other.store.modification_times |= self.store.modification_times
        other.version = self.version
        other.folder = Path(shutil.copytree(self.folder, home / "at-0"))
        return other

    @property
    def has_gone_on(self) -> bool:
        """Whether the last index read no more than was new."""
        return len(self.store.listings) == 1

    def assert_is_what_the_log_gives(self) -> None:
        assert self.folder is not None
        fresh = self.folder.with_name(f"{self.folder.name}-fresh")
        index_table(self.log.table, fresh, now_ms=self.now_ms)
        assert contents(self.folder) == contents(fresh)


def file_of(path: str, number: int, **fields: object) -> Action:
    stats = stats_of(10, {"id": number}, {"id": number + 9})
    values = {"p": str(number)}
    return add(path, size=100 + number, stats=stats, partitionValues=values, **fields)


def vacuum_of(operation: str) -> Action:
    parameters = {"specifiedRetentionMillis": "0"}
    return {"commitInfo": {"operation": operation, "operationParameters": parameters}}
