"""What a recipient is offered, as the activation page shows it."""

from dataclasses import dataclass

from apps.sharing.models import Recipient, SharedTable
from apps.sharing.snippets import TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTable:
    """One table that a recipient may read.

    Attributes:
        num_rows: Its rows; None when not known, or when a filter hides some of them.
        partition_filter: Which rows are offered, in SQL; empty for all.
    """

    name: TableName
    num_rows: int | None
    partition_filter: str

    @property
    def short_name(self) -> str:
        """`schema.table`: what tells the tables of a share apart."""
        return f"{self.name.schema}.{self.name.name}"


def offered_tables(recipient: Recipient) -> list[OfferedTable]:
    """Return the tables of a recipient's shares, by share and name."""
    tables = (
        SharedTable.objects.filter(share__grants__recipient=recipient)
        .select_related("share", "table")
        .order_by("share__name_key", "schema_key", "name_key")
    )
    return [
        OfferedTable(
            name=TableName(
                share=table.share.name, schema=table.schema, name=table.name
            ),
            num_rows=None if table.partition_filter else table.table.num_records,
            partition_filter=table.partition_filter,
        )
        for table in tables
    ]
