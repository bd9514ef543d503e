"""What an update changes: the rows of people's own data, before and after."""

from collections.abc import Mapping
from typing import Any, Final

from django.apps import apps

# Records, jobs, answers and sessions come with every call; keys note their last use.
OF_EVERY_CALL: Final = frozenset(
    {
        *("audit", "jobs", "api", "sessions", "contenttypes", "auth"),
        "accounts.apikey",
    }
)
# Columns that follow from another one, or that note when or by whom something was
# done.
FOLLOWS: Final = frozenset(
    {
        *("name_key", "schema_key", "scan_due_at", "probe_due_at", "made_at"),
        *("last_login", "granted_at", "session_generation", "due_at", "changed_at"),
        *("earlier_urls_end_at", "assigned_at", "acknowledged_by", "muted_by"),
    }
)

Rows = Mapping[tuple[str, Any], Mapping[str, Any]]


def kept_rows() -> Rows:
    """Every row that people made or changed, by its model and key."""
    found: dict[tuple[str, Any], Mapping[str, Any]] = {}
    for kind in apps.get_models():
        meta = kind._meta  # noqa: SLF001 (Django's documented API)
        if OF_EVERY_CALL.isdisjoint({meta.app_label, meta.label_lower}):
            columns = {one.attname for one in meta.concrete_fields} - FOLLOWS
            rows = kind._default_manager.values("pk", *columns)  # noqa: SLF001 (as above)
            found |= {(meta.label_lower, row["pk"]): row for row in rows}
    return found


def changed_since(before: Rows) -> set[str]:
    """The columns that differ, as `share.comment`; and rows, as `+grant`, `-grant`."""
    after = kept_rows()
    found = {f"+{_word(key)}" for key in after.keys() - before.keys()}
    found |= {f"-{_word(key)}" for key in before.keys() - after.keys()}
    for key in after.keys() & before.keys():
        found |= {
            f"{_word(key)}.{name}"
            for name, value in after[key].items()
            if value != before[key][name]
        }
    return found


def _word(key: tuple[str, Any]) -> str:
    return key[0].rpartition(".")[2]
