"""The order of a list: its columns, what the address asks for, and headers that sort.

A column has a key. The key alone in `?sort=` sorts the way that the column says, with
`-` in front the other way round, in the page as in its machine forms.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from django.db.models import F
from django.db.models.expressions import OrderBy
from django.http import HttpRequest

from deltaweb.web.pages.lists.links import changed

REVERSED = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list.

    Attributes:
        key: Names it in the address; nothing where it does not sort.
        fields: What a query orders by, with blanks between; the first decides.
        word: What a menu of orders calls it, where that is not its header.
        descends: Whether the key alone puts the largest or newest first.
        begins_reversed: Whether the first click asks for the other way round.
        is_shown: Whether it has a header; one without is only asked for by its key.
        never_null: Whether its fields always have a value, so that an index may serve.
    """

    key: str
    label: str
    fields: str = ""
    _: KW_ONLY
    word: str = ""
    descends: bool = False
    begins_reversed: bool = False
    css: str = ""
    is_shown: bool = True
    never_null: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header of a column: where a click leads, and how the list is sorted by it.

    `direction` is `ascending`, `descending` or nothing, as `aria-sort` has it.
    """

    label: str
    url: str
    direction: str
    css: str


def sort_choices(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Return every value of `?sort=` with its words: each key, then the others."""
    keyed = [column for column in columns if column.key]
    own = [(column.key, column.word or column.label) for column in keyed]
    return own + [(f"{REVERSED}{key}", f"{word}, reversed") for key, word in own]


def sort_options(
    columns: Sequence[Column], sort: str, *, default: str
) -> list[tuple[str, str]]:
    """Return what a menu of orders offers; the default is the one that none names.

    An order that turns a column round is offered where it is the present one.
    """
    choices = sort_choices(columns)
    own = choices[: len(choices) // 2]
    turned = [choice for choice in choices[len(own) :] if choice[0] == sort]
    return [(key if key != default else "", label) for key, label in own] + turned


def is_descending(columns: Sequence[Column], sort: str) -> bool:
    """Whether a value of `?sort=` puts the largest or newest first."""
    key = sort.removeprefix(REVERSED)
    own = next(column.descends for column in columns if column.key == key)
    return own != sort.startswith(REVERSED)


def sort_headers(
    request: HttpRequest, columns: Sequence[Column], sort: str
) -> tuple[Header, ...]:
    """Return the headers of a list.

    Args:
        request: The request for the list; links keep its filters and begin at page one.
        sort: How the list is sorted now: a key, or one with `-` in front.
    """
    return tuple(
        _header(request, columns, column, sort) for column in columns if column.is_shown
    )


def ordering(
    columns: Sequence[Column], sort: str, *, ties: Sequence[str]
) -> list[OrderBy]:
    """Return what a query orders by; what is unknown comes last, either way.

    Args:
        ties: Fields, ascending, that part rows which are alike.
    """
    descends = is_descending(columns, sort)
    key = sort.removeprefix(REVERSED)
    column = next(column for column in columns if column.key == key)
    nulls_last = None if column.never_null else True

    def turned(name: str) -> OrderBy:
        field = F(name)
        return (field.desc if descends else field.asc)(nulls_last=nulls_last)

    names = column.fields.split()
    return [
        *map(turned, names),
        *(F(name).asc() for name in ties if name not in names),
    ]


def _header(
    request: HttpRequest, columns: Sequence[Column], column: Column, sort: str
) -> Header:
    url = direction = ""
    if column.key:
        is_current = column.key == sort.removeprefix(REVERSED)
        is_reversed = sort.startswith(REVERSED)
        if is_current:
            direction = "descending" if is_descending(columns, sort) else "ascending"
        turns = not is_reversed if is_current else column.begins_reversed
        target = f"{REVERSED}{column.key}" if turns else column.key
        url = changed(request, sort=target, page=None)
    return Header(label=column.label, url=url, direction=direction, css=column.css)
