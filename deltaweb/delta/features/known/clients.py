"""The clients that read and write tables, as `clients.toml` has them.

A fact has a source and a date. Nothing is guessed: what no source says is not known,
which is a value of its own.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import Enum
from functools import cache
from importlib.resources import files
from typing import Any, Final

LOG: Final = "log"
SHARE: Final = "share"
ICEBERG: Final = "iceberg"
WRITE: Final = "write"
SPARK: Final = "Spark + Delta"
DUCKDB: Final = "DuckDB"
DELTALAKE: Final = "deltalake"
POLARS: Final = "Polars"
PANDAS: Final = "pandas"
VACUUM_CHECK: Final = "vacuumProtocolCheck"
SHREDDING: Final = "variantShredding"


class Answer(Enum):
    """Whether a client reads something."""

    READS = "reads"
    CANNOT = "cannot"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Support:
    """Whether a client reads a feature.

    Attributes:
        release: The first release that does; "" where that is not known.
    """

    answer: Answer
    release: str = ""

    @property
    def text(self) -> str:
        """It in a word: a release, yes, no, or not known."""
        if self.answer is Answer.READS:
            return self.release or "yes"
        return "no" if self.answer is Answer.CANNOT else self.answer.value


READS: Final = Support(Answer.READS)
CANNOT: Final = Support(Answer.CANNOT)
UNKNOWN: Final = Support(Answer.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownClient:
    """A client and the facts about it; `clients.toml` describes them.

    Attributes:
        source: The address of the documentation, or "measured here".
        on: The day on which the facts were looked up or measured.
        first: The first release of the client; "" where that is not known.
        tried: The release that was tried; "" where the facts are from documentation.
        supports: The features that it is known to read, or not to read.
    """

    name: str
    about: str
    product: str
    source: str
    on: date
    first: str = ""
    tried: str = ""
    through: str = ""
    formats: tuple[str, ...] = ()
    supports: Mapping[str, Support]
    unread_types: frozenset[str] = frozenset()
    unread_partitions: frozenset[str] = frozenset()
    checks_type_changes: bool = False
    needs_ids: str = ""

    def support(self, feature: str) -> Support:
        return self.supports.get(feature, UNKNOWN)


@cache
def clients_of(way: str) -> tuple[KnownClient, ...]:
    """Return the clients of one way to a table, such as `LOG` or `SHARE`."""
    return tuple(_clients(_facts()[way]))


def known_on() -> date:
    """Return the day of the newest fact."""
    ways = (LOG, SHARE, ICEBERG, WRITE)
    return max(client.on for way in ways for client in clients_of(way))


def readers_elsewhere(feature: str) -> tuple[str, ...]:
    """Return the clients that read a feature that is not read here."""
    return tuple(_facts()["elsewhere"].get(feature, ()))


@cache
def _facts() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("clients.toml").read_text("utf-8"))


def _clients(rows: list[dict[str, Any]]) -> Iterator[KnownClient]:
    by_name = {row["name"]: row for row in rows}
    for row in rows:
        facts = {**by_name.get(row.get("through", ""), {}), **row}
        supports = {
            name: Support(Answer.READS, first if isinstance(first, str) else "")
            if first
            else CANNOT
            for name, first in facts.pop("reads", {}).items()
        }
        lists: dict[str, Any] = {
            name: kind(facts.pop(name, ()))
            for name, kind in (
                ("formats", tuple),
                ("unread_types", frozenset),
                ("unread_partitions", frozenset),
            )
        }
        yield KnownClient(**facts, **lists, supports=supports)
