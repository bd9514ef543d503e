"""Which rows and columns a preview asks for."""

from dataclasses import dataclass
from typing import Final

from django import forms
from django.http import QueryDict

from apps.explorer.version.query import (
    MAX_TEXT_LENGTH,
    parse_column_page,
    parse_page,
    text_of,
    texts_of,
)
from apps.pages.request.parameters import cleaned

PAGE_LENGTH: Final = 50
BLOCK_LENGTH: Final = 500  # rows of one job: ten pages of one read


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """Which rows and columns a preview shows, before the schema has been asked."""

    columns: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()  # as in the address: column:operator:value
    sort: str = ""
    page: int = 1
    limit: int = PAGE_LENGTH
    column_page: int = 1


class _FindForm(forms.Form):
    find = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)


class _LimitForm(forms.Form):
    limit = forms.IntegerField(min_value=1, max_value=BLOCK_LENGTH, required=False)
    limit.hint = f"Give a number of rows, 1 to {BLOCK_LENGTH}."  # type: ignore[attr-defined]  # as `hints_of` reads it


class _CountForm(forms.Form):
    count = forms.ChoiceField(choices=[("exact", "")], required=False)


def parse_count(query: QueryDict) -> bool:
    """Whether the rows that match are to be counted, if their number is not known."""
    return bool(cleaned(_CountForm(query))["count"])


def parse_choice_text(query: QueryDict) -> str:
    """Return what the chooser of columns looks for."""
    return str(cleaned(_FindForm(query))["find"])


def parse_row_query(query: QueryDict) -> RowQuery:
    """Read `col` and `f` (both repeatable), `sort`, `page`, `limit` and `cols`."""
    return RowQuery(
        columns=tuple(dict.fromkeys(texts_of(query, "col", limit=2000))),
        filters=tuple(dict.fromkeys(texts_of(query, "f"))),
        sort=text_of(query, "sort"),
        page=parse_page(query),
        limit=cleaned(_LimitForm(query))["limit"] or PAGE_LENGTH,
        column_page=parse_column_page(query),
    )
