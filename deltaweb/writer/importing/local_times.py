"""Times of files without a zone as instants, and what became of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.values.time_zones.known import zone_rules
from deltaweb.delta.values.time_zones.rules import CLOCK, to_clocks, to_instants
from deltaweb.words import counted, length_text

Longs = np.ndarray[Any, np.dtype[np.int64]]

_SECOND_US: Final = 1_000_000


def instants_of(local: pa.TimestampArray, time_zone: str) -> tuple[pa.Array, Longs]:
    """Return the instants of local times, and how far each was moved.

    Args:
        local: Timestamps without a zone.

    Returns:
        timestamp[us, UTC]; and microseconds, 0 of a time that there is.
    """
    zone = zone_rules(time_zone)
    made = to_instants(local, zone)
    after = to_clocks(made, zone).cast(pa.int64())
    moved = pc.subtract(after, local.cast(CLOCK).cast(pa.int64()))
    return made, np.asarray(pc.fill_null(moved, 0), np.int64)


@dataclass(eq=False)
class TimesTaken:
    """What became of times without a zone in rows that are imported.

    Attributes:
        moved: How many moved forward, by how many microseconds.
        typed: How many values of each column had a type without a zone, and became
            instants.
    """

    time_zone: str
    moved: Counter[int] = field(default_factory=Counter)
    typed: Counter[str] = field(default_factory=Counter)

    def note_moved(self, columns: Iterable[Longs]) -> None:
        """Count those of some rows that were moved, by how far."""
        for moved_us in columns:
            lengths, counts = np.unique(moved_us[moved_us != 0], return_counts=True)
            self.moved.update(dict(zip(lengths.tolist(), counts.tolist(), strict=True)))

    def note_typed(self, column: str, given: pa.Array) -> None:
        """Count the values of a column where they are no texts."""
        num_values = len(given) - given.null_count
        if num_values and not pa.types.is_string(given.type):
            self.typed[column] += num_values

    def sentences(self) -> Iterator[str]:
        """Say what became of them, where it is not what the file has."""
        for name, count in self.typed.items():
            times = counted(count, "time")
            yield (
                f"Column {name!r}: {times} without a zone, read in the time zone"
                f" {self.time_zone}"
            )
        for length, count in sorted(self.moved.items()):
            do = "1 time does" if count == 1 else f"{count:,} times do"
            yield (
                f"{do} not exist in {self.time_zone}, moved forward by"
                f" {length_text(length // _SECOND_US)}"
            )

    def describe(self) -> Mapping[str, Any]:
        return {
            "time_zone": self.time_zone,
            "moved": [
                {"seconds": length // _SECOND_US, "num_values": count}
                for length, count in sorted(self.moved.items())
            ],
            "sentences": [*self.sentences()],
        }
