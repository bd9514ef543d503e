"""Clients that write tables, and which of them an upgrade of the protocol shuts out.

A writer refuses a table by the names, or the number, in its protocol: a feature that is
allowed and unused counts like any other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.known.clients import (
    WRITE,
    Answer,
    KnownClient,
    clients_of,
)
from deltaweb.delta.features.known.readings import release_order
from deltaweb.delta.features.registry import FEATURES_WRITER_VERSION, writer_features
from deltaweb.delta.protocol.actions import Protocol

ITS_LIST: Final = "table features"


@dataclass(frozen=True, slots=True)
class ShutOut:
    """A client that can no longer write a table.

    Attributes:
        before: The release from which on it still can; "" where none can.
    """

    client: str
    before: str
    tried: str
    feature: str

    @property
    def words(self) -> str:
        """It in a few words: `Spark with Delta before 0.8 (checkConstraints)`."""
        which = f" before {self.before}" if self.before else f" {self.tried}".rstrip()
        return f"{self.client}{which} ({self.feature})"


def shut_out(now: Protocol, then: Protocol) -> list[ShutOut]:
    """Return which known clients write a table no more that they could write before."""
    known = {*_asked(now)}
    new = [name for name in _asked(then) if name not in known]
    return [found for client in clients_of(WRITE) if (found := _shut_out(client, new))]


def _asked(protocol: Protocol) -> Iterator[str]:
    yield from writer_features(protocol)
    if protocol.min_writer_version >= FEATURES_WRITER_VERSION:
        yield ITS_LIST


def _shut_out(client: KnownClient, new: list[str]) -> ShutOut | None:
    supports = {name: client.support(name) for name in new}
    for name, found in supports.items():
        if found.answer is Answer.CANNOT:
            return ShutOut(client.name, "", client.tried, name)
    dated = [name for name, found in supports.items() if found.release]
    if not dated:
        return None
    newest = max(dated, key=lambda name: release_order(supports[name].release))
    return ShutOut(client.name, supports[newest].release, client.tried, newest)
