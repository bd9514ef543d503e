"""The actions of which a table has one, or few: of commits the newest of each.

Source: delta_protocol.md, "Action Reconciliation".
"""

from dataclasses import dataclass, field

import pyarrow as pa

from deltaweb.delta.log.commits.arrow_reader import ActionBatch
from deltaweb.delta.log.commits.fields import METADATA, PROTOCOL
from deltaweb.delta.log.commits.partition_keys import possible_keys
from deltaweb.delta.protocol.action_values import parse_metadata, parse_protocol
from deltaweb.delta.protocol.actions import Metadata, Protocol, SetTransaction


@dataclass(slots=True)
class NewestActions:
    """Collects them of batches of commits, given oldest first.

    Attributes:
        keys: Keys that partition values may have, by any metaData.
    """

    keys: list[str] = field(default_factory=list)
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    transactions: dict[str, SetTransaction] = field(default_factory=dict)

    def take_metadata(self, batch: ActionBatch) -> bool:
        """Note the newest metaData; return whether it brings partition columns."""
        known = len(self.keys)
        for owner, raw in batch.objects(METADATA):
            self.metadata = parse_metadata(raw, path=batch.paths[owner])
            keys = possible_keys(self.metadata)
            self.keys = [*dict.fromkeys([*self.keys, *keys])]
        return len(self.keys) != known

    def take_protocol(self, batch: ActionBatch) -> None:
        for owner, raw in batch.objects(PROTOCOL):
            self.protocol = parse_protocol(raw, path=batch.paths[owner])

    def take_transactions(self, batch: ActionBatch) -> None:
        self.transactions.update(parse_transactions(batch.table["txn"]))


def parse_transactions(transactions: pa.ChunkedArray) -> dict[str, SetTransaction]:
    return {
        raw["appId"]: SetTransaction(
            app_id=raw["appId"], version=raw["version"], last_updated=raw["lastUpdated"]
        )
        for raw in transactions.drop_null().to_pylist()
        if raw["appId"] is not None and raw["version"] is not None
    }
