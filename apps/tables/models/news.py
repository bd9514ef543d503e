"""What pages hear of tables: whenever an index, or a look at storage, changes one."""

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.db.models import Count, Max, Q, Sum

from apps.news.publishing import publish
from apps.news.topics import Topic, revision_of_values
from apps.tables.models import Lake, StoredFinding, Table

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from apps.accounts.models import User

TABLES: Final = "tables"  # any of them
TABLE: Final = "table"
LAKES: Final = "lakes"
HEALTH: Final = "health"
TABLE_PACE_S: Final = 0.25
TABLES_PACE_S: Final = 1.0  # a folder of tables is indexed one after the other
_SHOWN: Final = (
    *("namespace", "name", "state", "version", "latest_version_seen"),
    *("indexed_at", "error_code", "is_private"),
)


def tell_changed(table: Table) -> None:
    """Tell that a table has changed, once that is committed."""
    publish(f"{TABLE}:{table.id}", TABLES)


def table_revision(table: Table) -> str:
    """Return the revision of what pages show of a table."""
    return revision_of_values(*(getattr(table, name) for name in _SHOWN))


def tables_revision(user: "User | AnonymousUser") -> str:
    """Return the revision of the tables that a user may see."""
    tables = Table.objects.visible_to(user)
    is_new = Q(state=Table.State.NEW)
    found = tables.aggregate(
        Count("id"), Max("indexed_at"), new=Count("id", filter=is_new)
    )
    return revision_of_values(*found.values())


def _table(user: Any, key: str) -> str | None:  # noqa: ANN401 (of a request)
    try:
        wanted = UUID(key)
    except ValueError:
        return None
    tables = Table.objects.visible_to(user).filter(id=wanted)
    table = tables.only(*_SHOWN).first()
    return None if table is None else table_revision(table)


def lakes_revision() -> str:
    """Return the revision of the lakes."""
    found = Lake.objects.aggregate(Count("id"), Max("scanned_at"), Sum("failures"))
    return revision_of_values(*found.values())


def _lakes(user: Any, _key: str) -> str | None:  # noqa: ANN401 (as above)
    return lakes_revision() if getattr(user, "is_editor", False) else None


def health_revision(user: "User | AnonymousUser") -> str:
    """Return the revision of the findings that a user may see."""
    found = StoredFinding.objects.visible_to(user)
    counts = found.aggregate(
        *(Count("id"), Max("closed_at"), Max("muted_until"), Max("assigned_at")),
        *(Max("acknowledged_at"), Count("acknowledged_at"), Count("closed_at")),
    )
    return revision_of_values(*counts.values())


TOPICS: Final = (
    Topic(
        word=HEALTH,
        revision=lambda user, _key: health_revision(user),
        pace_s=TABLES_PACE_S,
    ),
    Topic(word=LAKES, revision=_lakes, pace_s=TABLES_PACE_S),
    Topic(word=TABLE, revision=_table, pace_s=TABLE_PACE_S),
    Topic(
        word=TABLES,
        revision=lambda user, _key: tables_revision(user),
        pace_s=TABLES_PACE_S,
    ),
)
