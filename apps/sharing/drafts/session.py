"""The draft of the wizard: kept in the session, filled from the catalogue."""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest

from apps.pages.actions import stamp_of
from apps.sharing.drafts.draft import MAX_TABLES, Draft
from apps.sharing.drafts.services import DraftFaults, make_share
from apps.tables.models import Table

SESSION_KEY: Final = "share-draft"


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


def add_table(request: HttpRequest, draft: Draft, table_id: str) -> None:
    """Choose one table, also a second time."""
    found = _tables([table_id])
    if not found:
        messages.error(request, "That table is no longer registered.")
    _add(request, draft, found)


def add_tables(request: HttpRequest, draft: Draft, table_ids: Iterable[str]) -> None:
    """Choose several tables; those that are chosen already stay as they are."""
    found = _tables(table_ids)
    if not found:
        messages.error(request, "Select the tables to add.")
    _add(request, draft, _not_chosen(draft, found))


def add_namespace(request: HttpRequest, draft: Draft, namespace: str) -> None:
    """Choose all tables of a namespace that are not chosen yet."""
    tables = Table.objects.filter(namespace=namespace.replace("\x00", ""))
    found = list(tables.only("id", "namespace", "name").order_by("name"))
    if not found:
        messages.error(request, "That namespace has no tables.")
        return
    new = _not_chosen(draft, found)
    added = _add(request, draft, new)
    number = f"All {added}" if added == len(found) else f"{added} of the {len(found)}"
    messages.success(request, f"{number} tables of {namespace} were added.")


def _add(request: HttpRequest, draft: Draft, tables: list[Table]) -> int:
    """Choose tables as far as there is room, and return how many."""
    room = max(0, MAX_TABLES - len(draft.tables))
    for table in tables[:room]:
        draft = draft.with_table(table.id, schema=table.namespace, name=table.name)
    save_draft(request, draft)
    if len(tables) > room:
        text = (
            f"{MAX_TABLES} tables fit into a draft. Add more on the page of the share."
        )
        messages.error(request, text)
    return min(room, len(tables))


def _not_chosen(draft: Draft, tables: list[Table]) -> list[Table]:
    chosen = {table.table_id for table in draft.tables}
    return [table for table in tables if str(table.id) not in chosen]


def _tables(table_ids: Iterable[str]) -> list[Table]:
    wanted = set()
    for text in table_ids:
        try:
            wanted.add(UUID(text))
        except ValueError:
            continue  # a button that makes no sense
    found = Table.objects.filter(id__in=wanted).only("id", "namespace", "name")
    return list(found.order_by("namespace", "name"))
