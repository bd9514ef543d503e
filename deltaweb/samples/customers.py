"""The sample table `customers`: 60 commits of the life of a real table.

Appends through the day, a nightly merge, corrections, erased customers, compaction,
two added columns, a changed property and a VACUUM that really deletes files.
"""

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa

from deltaweb.delta.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
    format_schema,
)
from deltaweb.delta.transaction import Action, CommittedFile
from deltaweb.samples.sample_table import Operation, TableWriter, epoch_ms

HOURS_BETWEEN_COMMITS: Final = 18
RETENTION: Final = timedelta(days=7)
CHECKPOINT_VERSION: Final = 50
DESCRIPTION: Final = "Customers of the web shop, kept by the nightly load"
_CYCLE: Final = (
    "append", "merge", "append", "delete", "append", "merge", "append", "update",
    "optimize",
)  # fmt: skip
_PLAN: Final = (
    *_CYCLE, "set_properties",
    *_CYCLE, "add_consent",
    *_CYCLE, *_CYCLE, "add_last_seen",
    *_CYCLE, "vacuum",
    "append", "merge", "append", "delete", "optimize",
    "append", "merge", "append", "update",
)  # fmt: skip
FIRST_NAMES: Final = (
    "Anna", "Jonas", "Léa", "Mateusz", "Freja", "Noor", "Élise", "Piotr", "Maja",
    "Ben", "Chloé", "Zofia", "Emil", "Ida", "Paul", "Inès",
)  # fmt: skip
LAST_NAMES: Final = (
    "Schneider", "Dubois", "Kowalska", "Lindqvist", "Meyer", "Laurent", "Nowak",
    "Bergström", "Fischer", "Moreau", "Wiśniewski", "Holm",
)  # fmt: skip
COUNTRIES: Final = ("DE", "FR", "PL", "SE")
TIERS: Final = ("basic", "silver", "gold")
_COLUMNS: Final = (
    StructField("customer_id", PrimitiveType("long"), nullable=False),
    StructField("name", PrimitiveType("string")),
    StructField("email", PrimitiveType("string"), metadata={"comment": "lower case"}),
    StructField("country", PrimitiveType("string")),
    StructField("signed_up", PrimitiveType("date")),
    StructField("tier", PrimitiveType("string")),
    StructField(
        "lifetime_value", DecimalType(12, 2), metadata={"comment": "gross, in euros"}
    ),
)
_CONSENT: Final = StructField("marketing_consent", PrimitiveType("boolean"))
_LAST_SEEN: Final = StructField("last_seen_at", PrimitiveType("timestamp"))

Row = dict[str, Any]


def write_customers(root: Path, now: datetime) -> None:
    """Write the table: 60 commits, the newest of them hours before `now`."""
    count = len(_PLAN) + 1 + _PLAN.count("vacuum")  # a VACUUM makes two
    start = now - timedelta(hours=count * HOURS_BETWEEN_COMMITS)
    story = _Story(root, start)
    for step in _PLAN:
        story.tell(step)


class _Story:
    """The table, its clock, and what may happen to it next."""

    def __init__(self, root: Path, start: datetime) -> None:
        self._created_at = self._now = start
        self._writer = TableWriter(root, seed=3)
        self._random = self._writer.random
        self._schema = StructType(_COLUMNS)
        self._properties: dict[str, str] = {}
        self._removed: list[tuple[datetime, CommittedFile]] = []
        self._next_id = 1
        self._steps: dict[str, Callable[[], None]] = {
            "append": self._append,
            "merge": self._merge,
            "delete": self._delete,
            "update": self._update,
            "optimize": self._optimize,
            "set_properties": self._set_properties,
            "add_consent": lambda: self._add_column(_CONSENT),
            "add_last_seen": lambda: self._add_column(_LAST_SEEN),
            "vacuum": self._vacuum,
        }
        created = self._operation("CREATE TABLE", "schema-deploy", {"partitionBy": []})
        self._writer.create(self._schema, created, description=DESCRIPTION)

    def tell(self, step: str) -> None:
        """Let one thing happen, some hours after the one before."""
        minutes = int(self._random.integers(-180, 180))
        self._now += timedelta(hours=HOURS_BETWEEN_COMMITS, minutes=minutes)
        self._steps[step]()
        if self._writer.version == CHECKPOINT_VERSION:
            self._writer.checkpoint(self._now + timedelta(seconds=9))

    # === Steps ===

    def _append(self) -> None:
        rows = self._new_rows(int(self._random.integers(60, 240)))
        file = self._write(rows)
        metrics = {
            "numFiles": 1,
            "numOutputRows": len(rows),
            "numOutputBytes": file.size,
        }
        parameters = {"mode": "Append", "partitionBy": []}
        self._commit("WRITE", "signup-stream", parameters, metrics, [file.add()])

    def _merge(self) -> None:
        chosen = self._choose(share=0.02)
        changed = self._rewrite(
            chosen, lambda row: row | {"lifetime_value": row["lifetime_value"] * 2}
        )
        inserted = self._new_rows(int(self._random.integers(5, 40)))
        new_file = self._write(inserted)
        metrics = {
            "numSourceRows": len(chosen) + len(inserted),
            "numTargetRowsInserted": len(inserted),
            "numTargetRowsUpdated": len(chosen),
            "numTargetRowsDeleted": 0,
            "numTargetRowsCopied": changed.copied,
            "numTargetFilesAdded": changed.files + 1,
            "numTargetFilesRemoved": changed.files,
            "executionTimeMs": int(self._random.integers(2000, 9000)),
        }
        parameters = {
            "predicate": "(target.customer_id = source.customer_id)",
            "matchedPredicates": [{"actionType": "update"}],
            "notMatchedPredicates": [{"actionType": "insert"}],
        }
        actions = [*changed.actions, new_file.add()]
        self._commit("MERGE", "etl-nightly", parameters, metrics, actions)

    def _update(self) -> None:
        chosen = self._choose(share=0.05)
        changed = self._rewrite(chosen, lambda row: row | {"tier": "gold"})
        metrics = {
            "numUpdatedRows": len(chosen),
            "numCopiedRows": changed.copied,
            "numAddedFiles": changed.files,
            "numRemovedFiles": changed.files,
        }
        parameters = {"predicate": ["(lifetime_value >= 400.00)"]}
        self._commit("UPDATE", "crm-sync", parameters, metrics, changed.actions)

    def _delete(self) -> None:
        chosen = self._choose(share=0.004)
        changed = self._rewrite(chosen, lambda _: None)
        metrics = {
            "numDeletedRows": len(chosen),
            "numCopiedRows": changed.copied,
            "numAddedFiles": changed.files,
            "numRemovedFiles": changed.files,
        }
        listed = ", ".join(str(number) for number in sorted(chosen)[:5])
        parameters = {"predicate": [f"(customer_id IN ({listed}))"]}
        self._commit("DELETE", "privacy-erase", parameters, metrics, changed.actions)

    def _optimize(self) -> None:
        old = [file for file, _ in self._writer.live.values()]
        rows = [
            row for _, table in self._writer.live.values() for row in table.to_pylist()
        ]
        removes = [self._remove(file, data_change=False) for file in old]
        new = self._write(sorted(rows, key=lambda row: row["customer_id"]))
        metrics = {
            "numRemovedFiles": len(old),
            "numRemovedBytes": sum(file.size for file in old),
            "numAddedFiles": 1,
            "numAddedBytes": new.size,
        }
        parameters = {"predicate": [], "zOrderBy": [], "auto": False}
        actions = [*removes, new.add(data_change=False)]
        self._commit("OPTIMIZE", "compactor", parameters, metrics, actions)

    def _set_properties(self) -> None:
        self._properties = {
            "delta.deletedFileRetentionDuration": f"interval {RETENTION.days} days",
            "delta.logRetentionDuration": "interval 90 days",
        }
        parameters = {"properties": self._properties}
        self._commit(
            "SET TBLPROPERTIES", "schema-deploy", parameters, {}, [self._metadata()]
        )

    def _add_column(self, column: StructField) -> None:
        self._schema = replace(self._schema, fields=(*self._schema.fields, column))
        parameters = {"columns": [{"column": _described(column)}]}
        self._commit("ADD COLUMNS", "schema-deploy", parameters, {}, [self._metadata()])

    def _vacuum(self) -> None:
        limit = self._now - RETENTION
        expired = [file for at, file in self._removed if at < limit]
        retention_ms = int(RETENTION.total_seconds() * 1000)
        self._commit(
            "VACUUM START",
            "vacuum-weekly",
            {"retentionCheckEnabled": True, "defaultRetentionMillis": retention_ms},
            {
                "numFilesToDelete": len(expired),
                "sizeOfDataToDelete": sum(file.size for file in expired),
            },
            [],
        )
        for file in expired:
            (self._writer.root / unquote(file.path)).unlink()
        self._now += timedelta(minutes=4)
        metrics = {"numDeletedFiles": len(expired), "numVacuumedDirectories": 1}
        parameters = {"status": "COMPLETED"}
        self._commit("VACUUM END", "vacuum-weekly", parameters, metrics, [])

    # === Parts of steps ===

    def _operation(
        self,
        name: str,
        user: str,
        parameters: Mapping[str, object],
        metrics: Mapping[str, int] | None = None,
    ) -> Operation:
        return Operation(
            name=name,
            user=user,
            at=self._now,
            parameters=parameters,
            metrics=metrics or {},
        )

    def _commit(
        self,
        name: str,
        user: str,
        parameters: Mapping[str, object],
        metrics: Mapping[str, int],
        actions: list[Action],
    ) -> None:
        self._writer.commit(self._operation(name, user, parameters, metrics), actions)

    def _metadata(self) -> Action:
        return self._writer.metadata(
            self._schema,
            created_at=self._created_at,
            description=DESCRIPTION,
            configuration=self._properties,
        )

    def _write(self, rows: list[Row]) -> CommittedFile:
        table = pa.Table.from_pylist(rows, schema=arrow_schema(self._schema))
        return self._writer.write_file(table, at=self._now)

    def _remove(self, file: CommittedFile, *, data_change: bool = True) -> Action:
        del self._writer.live[file.path]
        self._removed.append((self._now, file))
        now_ms = epoch_ms(self._now)
        return file.remove(deletion_timestamp=now_ms, data_change=data_change)

    def _choose(self, *, share: float) -> set[int]:
        tables = [table for _, table in self._writer.live.values()]
        ids = [
            number for table in tables for number in table["customer_id"].to_pylist()
        ]
        count = max(2, round(len(ids) * share))
        return {
            int(number) for number in self._random.choice(ids, count, replace=False)
        }

    def _rewrite(
        self, chosen: set[int], change: Callable[[Row], Row | None]
    ) -> "_Rewrite":
        """Write every file that holds a chosen row anew, with those rows changed."""
        result = _Rewrite()
        for file, table in list(self._writer.live.values()):
            rows = table.to_pylist()
            hits = [row for row in rows if row["customer_id"] in chosen]
            if not hits:
                continue
            kept = [
                change(row) if row["customer_id"] in chosen else row for row in rows
            ]
            removed = self._remove(file)
            added = self._write([row for row in kept if row is not None])
            result.actions += [removed, added.add()]
            result.files += 1
            result.copied += len(rows) - len(hits)
        return result

    def _new_rows(self, count: int) -> list[Row]:
        return [self._new_row() for _ in range(count)]

    def _new_row(self) -> Row:
        number, self._next_id = self._next_id, self._next_id + 1
        first = FIRST_NAMES[int(self._random.integers(len(FIRST_NAMES)))]
        last = LAST_NAMES[int(self._random.integers(len(LAST_NAMES)))]
        cents = int(self._random.lognormal(9, 1))
        row = {
            "customer_id": number,
            "name": f"{first} {last}",
            "email": f"{_ascii(first)}.{_ascii(last)}.{number}@example.org",
            "country": COUNTRIES[int(self._random.integers(len(COUNTRIES)))],
            "signed_up": self._now.astimezone(UTC).date(),
            "tier": TIERS[int(self._random.choice(3, p=[0.7, 0.2, 0.1]))],
            "lifetime_value": Decimal(cents).scaleb(-2),
            "marketing_consent": bool(self._random.integers(2)),
            "last_seen_at": self._now
            - timedelta(minutes=int(self._random.integers(900))),
        }
        names = self._schema.names
        return {name: value for name, value in row.items() if name in names}


class _Rewrite:
    """What writing files anew came to."""

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.files = 0
        self.copied = 0


def _described(column: StructField) -> object:
    return json.loads(format_schema(StructType((column,))))["fields"][0]


def _ascii(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.lower())
    return letters.encode("ascii", "ignore").decode()
