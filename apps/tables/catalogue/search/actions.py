"""Actions, which the search finds by what they are called: "vacuum orders"."""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

from django.db.models import QuerySet
from django.urls import reverse

from apps.pages.frame import AnyUser
from apps.tables.extension.search_actions import SearchAction, Target, actions_for
from apps.tables.extension.search_kinds import Hit
from apps.tables.extension.tabs import registered
from apps.tables.models import Table, name_holds
from apps.tables.operations.operation import operations
from deltaweb.storage.location import RECEIVED

MAX_TARGETS: Final = 5  # of an action
MAX_ACTIONS: Final = 24
MIN_LETTERS: Final = 3  # of a word that is not typed to its end
_WORD: Final = re.compile(r"[\w.:-]+")
_SMALL: Final = {"a", "an", "the", "of", "on", "in", "into", "its", "to", "for", "my"}
_EVERY: Final = {"table", "tables"}  # words that would name too many actions
IMPORT: Final = "tables:table-import"
SYNONYMS: Final = {
    "tables:table-vacuum": "vacuum delete old files free storage",
    "tables:table-optimize": "compact small files cluster zorder",
    "tables:table-restore": "undo revert roll back version",
    "tables:table-undo": "revert roll back change",
    "tables:table-checkpoint": "checkpoint",
    "tables:table-cleanup": "clean log",
    IMPORT: "upload csv append",
    "tables:table-columns": "add drop rename widen column",
    "tables:table-comments": "comment description",
}


def found_actions(user: AnyUser, text: str) -> list[Hit]:
    """Return the pages of the actions that a text names, the best first."""
    typed = [one for one in _WORD.findall(text.lower()) if one not in _SMALL]
    ranked = []
    for place, action in enumerate([*actions_for(user), *_of_tables(user)]):
        if split := _split(typed, action):
            num_named, rest = split
            ranked.append((-num_named, place, action, rest))
    ranked.sort(key=lambda one: one[:2])
    hits = [hit for *_, action, rest in ranked for hit in _hits(user, action, rest)]
    return hits[:MAX_ACTIONS]


def _split(typed: list[str], action: SearchAction) -> tuple[int, str] | None:
    """Return how many words name an action, and the rest; None if none does.

    The words before or after the rest name it.
    """
    words = (
        {*_WORD.findall(f"{action.label} {action.synonyms}".lower())} - _SMALL - _EVERY
    )
    named = [any(_begins(word, one) for word in words) for one in typed]
    if first := len([*takewhile(bool, named)]):
        return first, " ".join(typed[first:])
    if last := len([*takewhile(bool, reversed(named))]):
        return last, " ".join(typed[:-last])
    return None


def _begins(word: str, typed: str) -> bool:
    return word == typed or (len(typed) >= MIN_LETTERS and word.startswith(typed))


def _hits(user: AnyUser, action: SearchAction, rest: str) -> Iterator[Hit]:
    if action.targets is None:
        if not rest:
            yield Hit(name=action.label, about="", url=reverse(action.url_name))
        return
    for target in action.targets(user, rest)[:MAX_TARGETS]:
        yield Hit(
            name=action.named(target.name),
            about="",
            url=reverse(action.url_name, args=target.args),
        )


# === Those of tables: their operations and their tabs ===


def _of_tables(user: AnyUser) -> Iterator[SearchAction]:
    if getattr(user, "is_editor", False):
        for operation in operations:
            if operation.page:
                yield SearchAction(
                    label=_label(operation.page, operation.words),
                    synonyms=SYNONYMS.get(operation.page, ""),
                    url_name=operation.page,
                    targets=own_tables,
                )
    for tab in registered():
        if tab.visible(user):
            yield SearchAction(
                label=f"{tab.label} of",
                url_name=tab.url_name,
                targets=own_tables if tab.is_for_owners else seen_tables,
            )


def _label(page: str, words: str) -> str:
    if page == IMPORT:
        return "Import a file into {}"
    return words.replace("a table", "{}") if "a table" in words else f"{words} of"


def seen_tables(user: AnyUser, text: str) -> list[Target]:
    """Return tables that a user may see, those that changed last first."""
    return _targets(Table.objects.visible_to(user), text)  # type: ignore[arg-type]  # of any request


def own_tables(user: AnyUser, text: str) -> list[Target]:
    """Return those of them that no provider shares with us."""
    seen = Table.objects.visible_to(user)  # type: ignore[arg-type]  # likewise
    return _targets(seen.exclude(location__startswith=RECEIVED), text)


def _targets(tables: QuerySet[Table], text: str) -> list[Target]:
    found = tables.filter(name_holds(text)) if text else tables
    named = found.only("namespace", "name").order_by("-committed_at", "name")
    return [
        Target(name=one.full_name, args=(one.namespace, one.name))
        for one in sorted(named[: MAX_TARGETS * 4], key=lambda one: one.name != text)
    ]
