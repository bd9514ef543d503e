"""Which part of a file a page asks for."""

from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.http import QueryDict

from apps.explorer.parquet_file.conditions import OPERATORS, Condition
from apps.explorer.version.query import (
    MAX_PAGE,
    parse_page,
    parse_search,
    text_of,
)
from apps.pages.request.parameters import QueryError, cleaned

LANGUAGES: Final = ("delta", "spark", "arrow")
MAX_VALUE_LENGTH: Final = 1_000
MAX_NUMBER: Final = 2**31 - 1


class _NumbersForm(forms.Form):
    group = forms.IntegerField(required=False, min_value=0, max_value=MAX_NUMBER)
    column = forms.IntegerField(required=False, min_value=0, max_value=MAX_NUMBER)
    cols = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGE)
    groups = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGE)
    bars = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuery:
    """Which part of a file is shown.

    Attributes:
        folder: What the path says before the name.
        is_unlisted: Whether a file is meant that the version does not list.
        text: What names of the schema hold.
        page: Which page of the schema, from 1.
        language: As what the schema is written; "" is Parquet's own.
        group: The row group whose columns are shown.
        chunk_page: Which page of them, from 1.
        column: The leaf column whose row groups are shown; None is none.
        group_page: Which page of these, from 1.
        bar_page: Which page of the columns by their bytes, from 1.
        condition: What is tried on that column; None is nothing.
        has_rows: Whether the first rows are shown.
    """

    folder: str = ""
    is_unlisted: bool = False
    text: str = ""
    page: int = 1
    language: str = ""
    group: int = 0
    chunk_page: int = 1
    column: int | None = None
    group_page: int = 1
    bar_page: int = 1
    condition: Condition | None = None
    has_rows: bool = False


def parse_file_query(query: QueryDict) -> FileQuery:
    """Read what a page of a file is asked."""
    numbers: dict[str, Any] = cleaned(_NumbersForm(query))
    language = text_of(query, "as")
    if language and language not in LANGUAGES:
        raise QueryError(part="as", expected=f"one of {', '.join(LANGUAGES)}")
    return FileQuery(
        folder=text_of(query, "folder"),
        is_unlisted=_is_set(query, "unlisted"),
        text=parse_search(query),
        page=parse_page(query),
        language=language,
        group=numbers["group"] or 0,
        chunk_page=numbers["cols"] or 1,
        column=numbers["column"],
        group_page=numbers["groups"] or 1,
        bar_page=numbers["bars"] or 1,
        condition=_condition(query),
        has_rows=_is_set(query, "rows"),
    )


def _condition(query: QueryDict) -> Condition | None:
    operator = text_of(query, "op")
    if not operator:
        return None
    if operator not in OPERATORS:
        raise QueryError(part="op", expected=f"one of {', '.join(OPERATORS)}")
    value, upper = (text_of(query, name)[:MAX_VALUE_LENGTH] for name in ("a", "b"))
    return Condition(operator=operator, value=value, upper=upper)


def _is_set(query: QueryDict, name: str) -> bool:
    text = text_of(query, name)
    if text not in {"", "1"}:
        raise QueryError(part=name, expected="1")
    return text == "1"
