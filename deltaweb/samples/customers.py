"""The sample table `customers`: 60 commits of the life of a real table.

Appends through the day, a nightly merge, corrections, erased customers, compaction,
two added columns, a changed property, a constraint, a load that ran twice and was taken
back, and a VACUUM that really deletes files.
"""

import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    DecimalType,
    PrimitiveType,
    StructField,
    StructType,
    arrow_schema,
)
from deltaweb.samples.scripted_table import ScriptedTable
from deltaweb.table import DeltaTable

HOURS_BETWEEN_COMMITS: Final = 18
CONSTRAINT: Final = "lifetime_value >= 0"
SEED: Final = 3
DESCRIPTION: Final = "Customers of the web shop, kept by the nightly load"
_CYCLE: Final = (
    "append", "merge", "append", "delete", "append", "merge", "update", "append",
    "optimize",
)  # fmt: skip
_PLAN: Final = (
    *_CYCLE, "set_properties",
    *_CYCLE, "add_consent",
    "append", "merge", "append", "delete", "upgrade_protocol", "add_constraint",
    "merge", "append", "optimize",
    "append", "merge", "append", "delete", "append", "append_twice", "restore",
    "append", "optimize", "add_last_seen",
    *_CYCLE, "vacuum",
    "append", "merge", "delete", "append", "optimize",
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
        self._now = start
        self._random = np.random.default_rng(SEED)
        self._told = ScriptedTable(root)
        self._schema = StructType(_COLUMNS)
        self._next_id = 1
        self._ids: list[int] = []
        self._steps: dict[str, tuple[str, Callable[[DeltaTable], object]]] = {
            "append": ("signup-stream", self._append),
            "append_twice": ("signup-stream", self._append_twice),
            "merge": ("etl-nightly", self._merge),
            "delete": ("privacy-erase", self._delete),
            "update": ("crm-sync", self._update),
            "optimize": ("compactor", lambda table: table.optimize()),
            "set_properties": ("schema-deploy", self._set_properties),
            "add_consent": ("schema-deploy", self._add(_CONSENT)),
            "add_last_seen": ("schema-deploy", self._add(_LAST_SEEN)),
            "upgrade_protocol": (
                "schema-deploy", lambda table: table.upgrade_protocol(writer=3)
            ),
            "add_constraint": (
                "schema-deploy",
                lambda table: table.add_constraint("value_known", CONSTRAINT),
            ),
            "restore": ("oncall", self._restore),
            "vacuum": ("vacuum-weekly", self._vacuum),
        }  # fmt: skip
        with self._told.step("schema-deploy", start) as location:
            DeltaTable.create(
                location,
                self._schema,
                description=DESCRIPTION,
                properties={"delta.checkpointInterval": "50"},
            )

    def tell(self, step: str) -> None:
        """Let one thing happen, some hours after the one before."""
        minutes = int(self._random.integers(-180, 180))
        self._now += timedelta(hours=HOURS_BETWEEN_COMMITS, minutes=minutes)
        user, run = self._steps[step]
        with self._told.step(user, self._now):
            run(self._told.table)

    # === Steps ===

    def _append(self, table: DeltaTable) -> None:
        table.append(self._new_rows(int(self._random.integers(60, 240))))

    def _append_twice(self, table: DeltaTable) -> None:
        """Load the newest customers once more, by mistake."""
        self._next_id -= 40
        again = self._new_rows(40)
        self._ids = self._ids[:-40]
        table.append(again)

    def _merge(self, table: DeltaTable) -> None:
        chosen = self._choose(share=0.02)
        new = self._new_rows(int(self._random.integers(5, 40)))
        source = pa.concat_tables([self._rows(chosen), new])
        value = {"lifetime_value": "s.lifetime_value"}
        merge = table.merge(source, on="t.customer_id = s.customer_id")
        merge.when_matched_update(value).when_not_matched_insert().execute()

    def _update(self, table: DeltaTable) -> None:
        table.update({"tier": "'gold'"}, where="lifetime_value >= 400.00")

    def _delete(self, table: DeltaTable) -> None:
        chosen = self._choose(share=0.004)
        self._ids = [number for number in self._ids if number not in chosen]
        listed = ", ".join(map(str, chosen))
        table.delete(f"customer_id IN ({listed})")

    def _set_properties(self, table: DeltaTable) -> None:
        table.set_properties(
            {
                "delta.deletedFileRetentionDuration": "interval 7 days",
                "delta.logRetentionDuration": "interval 90 days",
            }
        )

    def _add(self, column: StructField) -> Callable[[DeltaTable], None]:
        def add(table: DeltaTable) -> None:
            self._schema = StructType((*self._schema.fields, column))
            table.add_columns([column])

        return add

    def _restore(self, table: DeltaTable) -> None:
        table.restore(table.latest_version() - 1)

    def _vacuum(self, table: DeltaTable) -> None:
        table.vacuum(dry_run=False, now=self._now, record_in_history=True)

    # === Parts of steps ===

    def _choose(self, *, share: float) -> list[int]:
        count = max(2, round(len(self._ids) * share))
        chosen = self._random.choice(self._ids, count, replace=False)
        return sorted(chosen.tolist())

    def _new_rows(self, count: int) -> pa.Table:
        numbers = range(self._next_id, self._next_id + count)
        self._next_id += count
        self._ids.extend(numbers)
        return self._rows(numbers)

    def _rows(self, numbers: Iterable[int]) -> pa.Table:
        rows = [self._row(number) for number in numbers]
        return pa.Table.from_pylist(rows, schema=arrow_schema(self._schema))

    def _row(self, number: int) -> Row:
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


def _ascii(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.lower())
    return letters.encode("ascii", "ignore").decode()
