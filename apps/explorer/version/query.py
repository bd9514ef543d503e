"""The parts of an address that several pages read: their shape, never the database."""

from django import forms
from django.http import QueryDict

from apps.pages.request.parameters import QueryError, cleaned

MAX_INT64 = 2**63 - 1
MAX_PAGE = 100_000
MAX_FILTERS = 20
MAX_TEXT_LENGTH = 500


class _SearchForm(forms.Form):
    q = forms.CharField(required=False, max_length=MAX_TEXT_LENGTH)


class _TextForm(forms.Form):
    text = forms.CharField(required=False, strip=False, max_length=4000)


class _PageForm(forms.Form):
    page = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGE)
    cols = forms.IntegerField(required=False, min_value=1, max_value=MAX_PAGE)


def parse_search(query: QueryDict) -> str:
    """Return the text of a filter box."""
    return str(cleaned(_SearchForm(query))["q"])


def parse_page(query: QueryDict) -> int:
    """Return the number of the page asked for, from 1."""
    return int(cleaned(_PageForm(query))["page"] or 1)


def parse_column_page(query: QueryDict) -> int:
    """Return the number of the page of columns asked for, from 1."""
    return int(cleaned(_PageForm(query))["cols"] or 1)


def parse_physical(query: QueryDict) -> bool:
    """Return whether the names that columns are stored under are asked for, too."""
    asked = text_of(query, "names")
    if asked not in {"", "physical"}:
        raise QueryError(part="names", expected="physical, or nothing")
    return bool(asked)


def partitions_of(query: QueryDict) -> tuple[tuple[str, str | None], ...]:
    """Read `partition` (repeatable): pairs of column and value, None for null."""
    pairs = []
    for text in texts_of(query, "partition"):
        column, equals, value = text.partition("=")
        pairs.append((column, value if equals else None))
    return tuple(dict.fromkeys(pairs))


def texts_of(query: QueryDict, name: str, *, limit: int = MAX_FILTERS) -> list[str]:
    """Return the values of a part that may be repeated, without the empty ones."""
    values = [value for value in query.getlist(name) if value]
    if len(values) > limit:
        raise QueryError(part=name, expected=f"at most {limit} of them")
    for value in values:
        if not _TextForm({"text": value}).is_valid():
            raise QueryError(
                part=name, expected="a shorter text of printable characters"
            )
    return values


def text_of(query: QueryDict, name: str) -> str:
    """Return the last value of a part, or nothing."""
    values = texts_of(query, name)
    return values[-1] if values else ""
