"""Clients that write tables, and which of them an upgrade of the protocol shuts out.

A writer refuses a table by the names, or the number, in its protocol: a feature that is
allowed and unused counts like any other.

Source: docs.delta.io, "What Delta Lake features require client upgrades?"; deltalake
was tried on a table of each version and feature.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from deltaweb.delta.features.known.verdicts import release_order
from deltaweb.delta.features.registry import FEATURES_WRITER_VERSION, writer_features
from deltaweb.delta.protocol.actions import Protocol

ITS_LIST: Final = "table features"


@dataclass(frozen=True, slots=True)
class WritingClient:
    """A client that writes tables by itself.

    Attributes:
        since: The first release that writes tables with a feature; "" for any that
            lists features.
        tried: The release that was tried; "" where the facts are documents'.
    """

    name: str
    since: Mapping[str, str]
    refuses: frozenset[str] = frozenset()
    tried: str = ""


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


WRITERS: Final = (
    WritingClient(
        "Spark with Delta",
        {
            "checkConstraints": "0.8",
            "generatedColumns": "1.0",
            "columnMapping": "1.2",
            "changeDataFeed": "2.0",
            ITS_LIST: "2.3",
            "deletionVectors": "2.3",
            "timestampNtz": "2.4",
            "domainMetadata": "3.0",
            "icebergCompatV1": "3.0",
            "v2Checkpoint": "3.0",
            "clustering": "3.1",
            "icebergCompatV2": "3.1",
            "rowTracking": "3.2",
            "typeWidening": "4.0",
            "variantType": "4.0",
        },
    ),
    WritingClient(
        "deltalake",
        {},
        frozenset(
            {
                "allowColumnDefaults",
                "checkpointProtection",
                "clustering",
                "domainMetadata",
                "icebergCompatV1",
                "identityColumns",
                "inCommitTimestamp",
                "materializePartitionColumns",
                "rowTracking",
                "typeWidening",
                "vacuumProtocolCheck",
            }
        ),
        "1.6",
    ),
)


def shut_out(now: Protocol, then: Protocol) -> list[ShutOut]:
    """Return which known clients write a table no more that they could write before."""
    known = {*_asked(now)}
    new = [name for name in _asked(then) if name not in known]
    return [found for client in WRITERS if (found := _shut_out(client, new))]


def _asked(protocol: Protocol) -> Iterator[str]:
    yield from writer_features(protocol)
    if protocol.min_writer_version >= FEATURES_WRITER_VERSION:
        yield ITS_LIST


def _shut_out(client: WritingClient, new: list[str]) -> ShutOut | None:
    refused = next((name for name in new if name in client.refuses), "")
    if refused:
        return ShutOut(client.name, "", client.tried, refused)
    dated = [name for name in new if client.since.get(name)]
    if not dated:
        return None
    newest = max(dated, key=lambda name: release_order(client.since[name]))
    return ShutOut(client.name, client.since[newest], client.tried, newest)
