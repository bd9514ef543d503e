"""Which rows and columns a preview asks for."""

from dataclasses import dataclass

from django import forms
from django.http import QueryDict

from deltaweb.web.explorer.version.query import (
    MAX_TEXT_LENGTH,
    parse_column_page,
    parse_page,
    text_of,
    texts_of,
)
from deltaweb.web.pages.request.parameters import cleaned


@dataclass(frozen=True, slots=True, kw_only=True)
class RowQuery:
    """Which rows and columns a preview shows, before the schema has been asked."""

    columns: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()  # as in the address: column:operator:value
    sort: str = ""
    page: int = 1
    column_page: int = 1


class _FindForm(forms.Form):
    find = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)


def parse_choice_text(query: QueryDict) -> str:
    """Return what the chooser of columns looks for."""
    return str(cleaned(_FindForm(query))["find"])


def parse_row_query(query: QueryDict) -> RowQuery:
    """Read `col` and `f` (both repeatable), `sort`, `page` and `cols`."""
    return RowQuery(
        columns=tuple(dict.fromkeys(texts_of(query, "col", limit=2000))),
        filters=tuple(dict.fromkeys(texts_of(query, "f"))),
        sort=text_of(query, "sort"),
        page=parse_page(query),
        column_page=parse_column_page(query),
    )
