"""Pages of the manual, which the search finds by their titles: "rotate a token"."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from django.conf import settings
from django.urls import reverse

from apps.pages.frame import AnyUser
from apps.tables.extension.search_kinds import Hit

INDEX: Final = Path("search", "search_index.json")
_WORD: Final = re.compile(r"\w+")
_SMALL: Final = {"a", "an", "the", "of", "to", "in", "is", "my", "do", "i", "how"}


@dataclass(frozen=True, slots=True)
class Section:
    """A page of the manual, or a section of one.

    Attributes:
        title: Its own title.
        page: The title of its page; the same for a page.
        place: Its address below that of the manual.
    """

    title: str
    page: str
    place: str

    @property
    def url(self) -> str:
        return f"{reverse('help')}{self.place}"


def found_help(user: AnyUser, text: str) -> list[Hit]:
    """Return the pages and sections of the manual that a text names."""
    del user
    return [
        Hit(
            name=one.title,
            about="" if one.title == one.page else f"in {one.page}",
            url=one.url,
        )
        for one in sections_of(text)
    ]


def sections_of(text: str) -> list[Section]:
    """Return what has all words of a text in its titles: pages, then sections."""
    typed = [one for one in _WORD.findall(text.lower()) if one not in _SMALL]
    if not typed:
        return []
    return [
        one for one, words in _sections() if all(_is_in(one, words) for one in typed)
    ]


def _is_in(typed: str, words: frozenset[str]) -> bool:
    return typed in words or any(
        len(typed) > len("or") and word.startswith(typed) for word in words
    )


def _sections() -> tuple[tuple[Section, frozenset[str]], ...]:
    path = settings.MANUAL / INDEX
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError:  # the manual was not built
        return ()
    return _read(path, changed_ns)


@lru_cache(maxsize=1)
def _read(path: Path, changed_ns: int) -> tuple[tuple[Section, frozenset[str]], ...]:
    del changed_ns
    docs = json.loads(path.read_text(encoding="utf-8"))["docs"]
    pages = {
        one["location"]: one["title"] for one in docs if "#" not in one["location"]
    }
    found = []
    for one in docs:
        place = one["location"]
        page = pages.get(place.partition("#")[0], "")
        words = frozenset(_WORD.findall(f"{page} {one['title']}".lower()))
        found.append((Section(one["title"], page, place), words))
    found.sort(key=lambda one: ("#" in one[0].place, one[0].place))
    return tuple(found)
