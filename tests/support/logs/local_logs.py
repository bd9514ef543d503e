"""Logs on disk for tests of the index: commits, checkpoints and an index beside."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deltaweb.delta.log.paths import checkpoint_name, commit_name
from deltaweb.table import DeltaTable
from tests.support.index.index_builds import build_index
from tests.support.logs.delta_logs import (
    Action,
    add,
    checkpoint_bytes,
    commit_bytes,
    metadata,
    protocol,
    remove,
)

COLUMNS = {
    "id": "long",
    "name": "string",
    "price": "double",
    "day": "date",
    "p": "integer",
}


def typed_schema(**columns: str) -> str:
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in columns.items()
    ]
    return json.dumps({"type": "struct", "fields": fields})


def stats_of(
    num_records: object, low: Mapping[str, Any], high: Mapping[str, Any]
) -> str:
    """Return statistics of columns that hold no null."""
    counts = dict.fromkeys(low, 0)
    return json.dumps(
        {
            "numRecords": num_records,
            "minValues": dict(low),
            "maxValues": dict(high),
            "nullCount": counts,
        }
    )


class LocalLog:
    """A table in a folder, built commit by commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "table" / "_delta_log"
        self.log.mkdir(parents=True)

    @property
    def location(self) -> str:
        return str(self.folder / "table")

    @property
    def table(self) -> DeltaTable:
        return DeltaTable(self.location)

    def start(self, *actions: Action, **fields: object) -> "LocalLog":
        """Commit version 0 with a protocol and a metaData, and more."""
        values = {"schemaString": typed_schema(**COLUMNS), **fields}
        return self.commit(0, protocol(), metadata(**values), *actions)

    def commit(self, version: int, *actions: Action) -> "LocalLog":
        (self.log / commit_name(version)).write_bytes(commit_bytes(*actions))
        return self

    def checkpoint(self, version: int, *actions: Action) -> "LocalLog":
        (self.log / checkpoint_name(version)).write_bytes(checkpoint_bytes(actions))
        return self

    def index(self, name: str = "index") -> Path:
        """Index the newest version; return the folder of the index."""
        folder = self.folder / name
        build_index(self.location, None, folder)
        return folder


class RandomLog(LocalLog):
    """A table of random files, partitioned by `p`, some of them odd."""

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder)
        self.random = random.Random(seed)
        self.live: dict[str, Action] = {}
        self.gone: list[str] = []
        self.version = 0
        self.start(*self._adds(20), partitionColumns=["p"])

    def grow(self, commits: int) -> None:
        """Commit files that come, go, and come again."""
        for _ in range(commits):
            self.version += 1
            going = self.random.sample(sorted(self.live), min(5, len(self.live)))
            actions = [remove(path) for path in going]
            for path in going:
                del self.live[path]
            again = [path for path in going if self.random.random() < 0.2]
            actions += self._adds(self.random.randrange(8), again)
            if self.random.random() < 0.2:
                wider = typed_schema(**COLUMNS, extra="string")
                actions.append(metadata(schemaString=wider, partitionColumns=["p"]))
            self.commit(self.version, *actions)
            if self.random.random() < 0.2:
                head = [protocol(), self._newest_metadata()]
                self.checkpoint(self.version, *head, *self.live.values())

    def _newest_metadata(self) -> Action:
        found = self.table.snapshot_metadata().metadata
        return metadata(
            found.id,
            schemaString=found.schema_string,
            partitionColumns=list(found.partition_columns),
        )

    def _adds(self, count: int, again: list[str] | None = None) -> list[Action]:
        fresh = [
            f"{self.random.choice(('', 'p=1/', 'a%20b/', 'x%2520y/', 'é/', 'k=c:d/'))}"
            f"file-{self.random.getrandbits(40)}.parquet"
            for _ in range(count)
        ]
        actions = []
        for path in (*fresh, *(again or ())):
            actions.append(self._add(path))
            self.live[path] = actions[-1]
        return actions

    def _add(self, path: str) -> Action:
        low = self.random.randrange(1000)
        values = {
            "id": (low, low + 9),
            "name": (f"n{low:04}", f"n{low + 9:04}"),
            "price": (low / 4, low / 4 + 1),
            "day": (f"2026-01-{low % 28 + 1:02}", "2026-02-01"),
        }
        stats = stats_of(
            self.random.choice((10, 10, 10, 0, -1)),
            {name: pair[0] for name, pair in values.items()},
            {name: pair[1] for name, pair in values.items()},
        )
        odd = self.random.choice((stats,) * 6 + (None, "{}", '{"numRecords":"ten"}'))
        partition = self.random.choice((None, "", "0", "1", "2"))
        fields = {"size": low, "partitionValues": {"p": partition}}
        return add(path, **fields) if odd is None else add(path, stats=odd, **fields)
