"""The draft of the wizard: kept in the session, filled from the catalogue."""

import re
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.pages.actions import stamp_of
from apps.sharing.drafts.draft import MAX_TABLES, Draft
from apps.sharing.drafts.services import DraftFaults, make_share
from apps.tables.models import Table

SESSION_KEY: Final = "share-draft"
_UUID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def load_draft(request: HttpRequest) -> Draft:
    """Return what was typed so far."""
    return Draft.from_session(request.session.get(SESSION_KEY))


def save_draft(request: HttpRequest, draft: Draft) -> Draft:
    """Keep a draft, and return it."""
    request.session[SESSION_KEY] = draft.to_session()
    return draft


def drop_draft(request: HttpRequest) -> None:
    """Forget what was typed."""
    request.session.pop(SESSION_KEY, None)


def faults_of(request: HttpRequest, draft: Draft) -> DraftFaults:
    """Return why a draft would not become a share."""
    made = make_share(draft, stamp=stamp_of(request), is_trial=True)
    return made.faults


def add_tables(
    request: HttpRequest, draft: Draft, table_ids: Iterable[str], *, again: bool = False
) -> None:
    """Choose tables; those that are chosen already stay as they are.

    Args:
        again: Whether a table is chosen a second time.
    """
    wanted = {UUID(text) for text in table_ids if _UUID.fullmatch(text)}
    _add(request, draft, Table.objects.filter(id__in=wanted), again=again)


def add_namespace(request: HttpRequest, draft: Draft, namespace: str) -> None:
    """Choose all tables of a namespace that are not chosen yet."""
    tables = Table.objects.filter(namespace=namespace.replace("\x00", ""))
    added, found = _add(request, draft, tables)
    number = f"All {added}" if added == found else f"{added} of the {found}"
    if found:
        messages.success(request, f"{number} tables of {namespace} were added.")


def _add(
    request: HttpRequest, draft: Draft, tables: QuerySet[Table], *, again: bool = False
) -> tuple[int, int]:
    """Choose tables as far as there is room; return how many, and of how many."""
    found = list(tables.only("id", "namespace", "name").order_by("namespace", "name"))
    if not found:
        messages.error(request, "Select the tables to add.")
    chosen = set() if again else {table.table_id for table in draft.tables}
    new = [table for table in found if str(table.id) not in chosen]
    room = max(0, MAX_TABLES - len(draft.tables))
    for table in new[:room]:
        draft = draft.with_table(table.id, schema=table.namespace, name=table.name)
    save_draft(request, draft)
    if len(new) > room:
        text = (
            f"{MAX_TABLES} tables fit into a draft. Add more on the page of the share."
        )
        messages.error(request, text)
    return min(room, len(new)), len(found)
