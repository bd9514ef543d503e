"""The order of a list: its columns, what the address asks for, and headers that sort.

A column has a key. `?sort=key` is ascending and `?sort=-key` is descending, in every
list and in each of its forms.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from django.db.models import F
from django.db.models.expressions import OrderBy
from django.http import HttpRequest

from apps.pages.lists.links import changed

DESCENDING = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a list.

    Attributes:
        key: Names it in the address; nothing where it does not sort.
        fields: What a query orders by, with blanks between; the first decides.
        word: What a menu of orders calls it, where that is not its header.
        begins_descending: Whether the first click puts the largest or newest first.
        is_shown: Whether it has a header; one without is only asked for by its key.
        never_null: Whether its fields always have a value, so that an index may serve.
    """

    key: str
    label: str
    fields: str = ""
    _: KW_ONLY
    word: str = ""
    begins_descending: bool = False
    css: str = ""
    is_shown: bool = True
    never_null: bool = False

    @property
    def first_sort(self) -> str:
        """The value of `?sort=` that the first click asks for."""
        return f"{DESCENDING}{self.key}" if self.begins_descending else self.key

    @property
    def other_sort(self) -> str:
        """The value of `?sort=` for the other direction."""
        return self.key if self.begins_descending else f"{DESCENDING}{self.key}"


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
    """Return every value of `?sort=` with its words: first orders, then the others."""
    keyed = [(c, c.word or c.label) for c in columns if c.key]
    own = [(column.first_sort, word) for column, word in keyed]
    return own + [(column.other_sort, f"{word}, reversed") for column, word in keyed]


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


def sort_headers(
    request: HttpRequest, columns: Sequence[Column], sort: str
) -> tuple[Header, ...]:
    """Return the headers of a list.

    Args:
        request: The request for the list; links keep its filters and begin at page one.
        sort: How the list is sorted now: a key, or one with `-` in front.
    """
    return tuple(
        _header(request, column, sort) for column in columns if column.is_shown
    )


def ordering(
    columns: Sequence[Column], sort: str, *, ties: Sequence[str]
) -> list[OrderBy]:
    """Return what a query orders by; what is unknown comes last, either way.

    Args:
        ties: Fields, ascending, that part rows which are alike.
    """
    descends = sort.startswith(DESCENDING)
    key = sort.removeprefix(DESCENDING)
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


def _header(request: HttpRequest, column: Column, sort: str) -> Header:
    url = direction = ""
    if column.key:
        is_current = column.key == sort.removeprefix(DESCENDING)
        if is_current:
            direction = "descending" if sort.startswith(DESCENDING) else "ascending"
        both = {column.first_sort: column.other_sort}
        target = both.get(sort, column.first_sort)
        url = changed(request, sort=target, page=None)
    return Header(label=column.label, url=url, direction=direction, css=column.css)
