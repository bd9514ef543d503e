"""Versions of tables, which the search finds by name and number: "orders v12"."""

import re
from typing import Final

from django.urls import reverse

from apps.pages.frame import AnyUser
from apps.tables.extension.search_kinds import Hit
from apps.tables.models import Commit, Table, name_holds

_VERSION: Final = re.compile(
    r"(?P<name>\S+?)(?:\s+|@)(?:v|version\s+)?(?P<version>\d{1,18})", re.IGNORECASE
)
MAX_FOUND: Final = 50


def found_versions(user: AnyUser, text: str) -> list[Hit]:
    """Return the versions of a number of the tables whose name holds a text."""
    typed = _VERSION.fullmatch(text.strip())
    if typed is None:
        return []
    tables = Table.objects.visible_to(user).filter(name_holds(typed["name"]))  # type: ignore[arg-type]  # of any request
    version = int(typed["version"])
    commits = Commit.objects.filter(table__in=tables.values("id"), version=version)
    ordered = commits.order_by("table__namespace", "table__name")
    return [
        Hit(
            name=f"{one.table.full_name} v{version}",
            about=one.sentence,
            url=reverse(
                "explorer:commit-detail",
                args=(one.table.namespace, one.table.name, version),
            ),
        )
        for one in ordered.select_related("table").defer("table__summary")[:MAX_FOUND]
    ]
