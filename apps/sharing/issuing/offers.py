"""What a recipient is offered, as the activation page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from deltaweb.web.sharing.clients.preflight import Preflight, preflights
from deltaweb.web.sharing.clients.snippets import TableName
from deltaweb.web.sharing.models import Recipient, SharedTable

LOOKED_AT: Final = 50  # whose clients are looked up; a share may hold thousands
_RANKS: Final = {"clean": 1, "unknown": 2, "partly": 3, "refused": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTable:
    """One table that a recipient may read.

    Attributes:
        table_id: Which table of the catalogue it is.
        num_rows: Its rows; None when not known, or when a filter hides some of them.
        condition: Which rows are offered, in SQL; empty for all.
        preflight: Which clients read it; None beyond the first `LOOKED_AT`.
    """

    name: TableName
    table_id: UUID
    num_rows: int | None
    condition: str
    preflight: Preflight | None = None

    @property
    def short_name(self) -> str:
        """`schema.table`: what distinguishes the tables of a share."""
        return f"{self.name.schema}.{self.name.name}"

    @property
    def trouble(self) -> str:
        """By which clients it cannot be read, and why; empty where none is known."""
        unable = [
            one for one in (self.preflight or Preflight()).clients if not one.can_read
        ]
        if not unable:
            return ""
        if self.preflight is not None and self.preflight.state == "refused":
            who = "Queries are refused for every client."
        else:
            who = f"Cannot be read by {', '.join(one.client for one in unable)}."
        return f"{who} {unable[0].reason}"


def offered_tables(recipient: Recipient) -> list[OfferedTable]:
    """Return the tables of a recipient's shares, by share and name.

    What clients make of them is looked up for the first `LOOKED_AT`.
    """
    tables = list(
        SharedTable.objects.filter(share__grants__recipient=recipient)
        .select_related("share", "table")
        .order_by("share__name_key", "schema_key", "name_key")
    )
    found = preflights({table.table_id for table in tables[:LOOKED_AT]})
    return [
        OfferedTable(
            name=TableName(
                share=table.share.name, schema=table.schema, name=table.name
            ),
            table_id=table.table_id,
            num_rows=None if table.condition else table.table.num_records,
            condition=table.condition,
            preflight=found.get(table.table_id),
        )
        for table in tables
    ]


def to_read_first(tables: Sequence[OfferedTable]) -> list[TableName]:
    """Return the names of tables, those first that a first try would succeed with.

    That is a table which every client reads and which has rows; one whose queries are
    refused comes last. Only the first `LOOKED_AT` are looked up.
    """
    looked_at = tables[:LOOKED_AT]

    def rank(table: OfferedTable) -> int:
        known = _RANKS[table.preflight.state if table.preflight else "unknown"]
        return 0 if known == _RANKS["clean"] and table.num_rows != 0 else known

    rest = [table.name for table in tables[LOOKED_AT:]]
    return [table.name for table in sorted(looked_at, key=rank)] + rest
