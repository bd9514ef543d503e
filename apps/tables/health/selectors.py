"""The findings that hold, as a command reads them."""

from collections.abc import Sequence
from datetime import datetime

from apps.tables.catalogue.names import find_table
from apps.tables.health.listing import findings_loaded
from apps.tables.health.resources import FindingResource, finding_resource
from apps.tables.models import StoredFinding


def open_findings(names: Sequence[str], *, now: datetime) -> list[FindingResource]:
    """Return the open findings that are not muted, the worst first.

    Args:
        names: The tables; none for all tables, shares and recipients.

    Raises:
        TableNotRegisteredError: If there is no table of a name.
    """
    found = StoredFinding.objects.listed(now)
    if names:
        found = found.filter(table__in=[find_table(name).id for name in names])
    ordered = findings_loaded(found).order_by(
        *("severity", "table__namespace", "table__name", "rule", "id")
    )
    return [finding_resource(one) for one in ordered]
