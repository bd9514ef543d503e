"""What is offered of a table, as machine forms name it."""

from dataclasses import dataclass

from apps.pages.page_json import in_json, shaped
from apps.sharing.models import SharedTable


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedVersions:
    """The versions that are offered.

    Attributes:
        with_history: Whether recipients can read older versions.
    """

    with_history: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedPart(OfferedVersions):
    """The part of a table that is offered.

    Attributes:
        start_version: The first version of the shared history; null for all versions.
        condition: Share only rows that meet this condition; null for all rows.
        columns: Share only these columns; null for all columns.
    """

    start_version: int | None
    condition: str | None
    columns: list[str] | None

    @in_json
    def partition_filter(self) -> str | None:
        """The condition, by its old name."""
        return self.condition


def offered_part(shared: SharedTable) -> OfferedPart:
    """Return the part of a table that a share offers."""
    return shaped(OfferedPart, shared, columns=shared.columns or None)
