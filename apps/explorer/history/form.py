"""Which commits a history asks for."""

from dataclasses import dataclass
from datetime import date

from django import forms
from django.http import QueryDict

from apps.explorer.version.query import (
    MAX_INT64,
    MAX_TEXT_LENGTH,
    text_of,
    texts_of,
)
from apps.pages.lists.days import EXAMPLE, parse_day
from apps.pages.request.parameters import QueryError, cleaned


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryFilter:
    """Which commits a history page shows; `before` is where the page starts."""

    operations: tuple[str, ...] = ()
    user_name: str = ""
    first_day: date | None = None
    last_day: date | None = None
    text: str = ""
    before: int | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.chooses_commits or self.first_day or self.last_day)

    @property
    def chooses_commits(self) -> bool:
        """Whether commits of one day may differ in passing."""
        return bool(self.operations or self.user_name or self.text)


class _HistoryForm(forms.Form):
    user = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)
    q = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)
    before = forms.IntegerField(required=False, min_value=0, max_value=MAX_INT64)


def parse_history_filter(query: QueryDict) -> HistoryFilter:
    """Read `op` (repeatable), `user`, `from`, `to`, `q` and `before`."""
    found = cleaned(_HistoryForm(query))
    return HistoryFilter(
        operations=tuple(dict.fromkeys(texts_of(query, "op"))),
        user_name=found["user"],
        first_day=_day(query, "from"),
        last_day=_day(query, "to"),
        text=found["q"],
        before=found["before"],
    )


def _day(query: QueryDict, name: str) -> date | None:
    text = text_of(query, name).strip()
    if not text:
        return None
    try:
        return parse_day(text)
    except ValueError:
        expected = f"a day such as 2026-11-20 or {EXAMPLE}"
        raise QueryError(part=name, expected=expected) from None
