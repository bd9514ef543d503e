"""The versions of a table's protocol go up; this cannot be undone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from apps.pages.changes.parameters import parameter, whole_number
from apps.tables.operations.definition.definition_change import register_change
from deltaweb.delta.writing.operations.protocol_change import upgrade_protocol
from deltaweb.delta.writing.transaction import Transaction

if TYPE_CHECKING:
    from deltaweb.delta.snapshot.state import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeProtocol:
    """To which versions.

    Attributes:
        reader: The new reader version; null keeps the current one.
        writer: The new writer version; null keeps the current one.
    """

    reader: int | None = parameter(
        None, "--reader", type=whole_number, metavar="N", help="the reader version"
    )
    writer: int | None = parameter(
        None, "--writer", type=whole_number, metavar="N", help="the writer version"
    )


def upgrade(base: "Definition", asked: UpgradeProtocol, root: str) -> Transaction:
    """Return the transaction that raises the versions."""
    return upgrade_protocol(base, reader=asked.reader, writer=asked.writer, root=root)


UPGRADE_PROTOCOL: Final = register_change(
    name="upgrade_protocol",
    words="Upgrade the protocol",
    title="Upgrade the protocol of {table}",
    doing="Committing the protocol",
    action="table.upgrade_protocol",
    parameters=UpgradeProtocol,
    change=upgrade,
    page="tables:table-protocol",
    question=lambda _asked, opened: (
        f"Upgrade the protocol of {opened.root}? Clients that do not know the new "
        "versions cannot use the table any more, and this cannot be undone."
    ),
)
