"""The parameters of a page's address: those that it takes, and what else is there.

An address that somebody writes may misspell one. A page says so and shows the rest; a
machine form refuses it, for a script reads no notice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, TypeAlias

from django.forms import Form
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect

from apps.pages.errors import PageError
from apps.pages.lists.fields import hints_of
from apps.pages.lists.links import address_with

Takes: TypeAlias = Iterable[str | type[Form]]
"""Names of parameters, with blanks between, and forms that are made of them."""

VERSION: Final = "v"
_OTHER_WORDS: Final = {"version": VERSION}
"""What people call a parameter that is called otherwise."""
_OF_OTHERS: Final = frozenset({"_", "fbclid", "gclid", "msclkid", "ref", "tour"})
"""What browsers, mails, other sites and the tour of the manual put into addresses."""
_OF_OTHERS_BEGIN: Final = ("utm_", "hx-")
_MAX_SAID: Final = 5
_MAX_LENGTH: Final = 40


class QueryError(PageError, code="query-invalid"):
    """A part of the address that cannot be read; `expected` says what could."""

    part: str = ""
    expected: str = ""
    status = 400
    message: str = "The address has a {part!r} that cannot be read."
    hint: str = "Give {expected}, or leave {part!r} out."


class UnknownParameterError(PageError, code="unknown-parameter"):
    """The address of a machine form has a parameter that it does not take."""

    name: str
    known: Sequence[str]
    meant: str = ""
    status = 400
    message = "{name!r} is not a known parameter."
    hint = "{_way_out}"

    @property
    def _way_out(self) -> str:
        if self.meant:
            return f"Did you mean {self.meant!r}?"
        return f"Known are: {', '.join(self.known)}." if self.known else "Leave it out."


@dataclass(frozen=True, slots=True)
class UnknownParameter:
    """A parameter that a page skips.

    Attributes:
        meant: The one that may be meant; empty for none.
        address: Of the page with that one in its place, or without it.
    """

    name: str
    meant: str
    address: str


def names_of(takes: Takes) -> frozenset[str]:
    """Return the names of parameters that are given in words and as forms."""
    found: set[str] = set()
    for part in takes:
        found.update(part.split() if isinstance(part, str) else part.base_fields)
    return frozenset(found)


def check_parameters(
    request: HttpRequest, fmt: str, known: frozenset[str]
) -> HttpResponseBase | None:
    """Look at the parameters of an address before its page does.

    Args:
        request: The request; those that a page skips are noted on it, for the
            template.

    Returns:
        A redirect to the address that is meant; None where the page answers.
    """
    if request.method not in {"GET", "HEAD"}:
        return None
    unknown = [*_unknown(request, known)]
    if not unknown:
        return None
    sure = next((name for name in unknown if _is_sure(request, name, known)), None)
    if sure is not None:
        return HttpResponseRedirect(_renamed(request, sure, _OTHER_WORDS[sure]))
    if fmt != "html":
        check_names(unknown, known)
    request.unknown_parameters = [  # type: ignore[attr-defined]  # for `base.html`
        UnknownParameter(
            name=name[:_MAX_LENGTH],
            meant=(meant := _meant(name, known)),
            address=_renamed(request, name, meant),
        )
        for name in islice(unknown, _MAX_SAID)
    ]
    return None


def check_names(names: Iterable[str], known: frozenset[str]) -> None:
    """Refuse names that are not known."""
    name = next((name for name in names if name not in known), None)
    if name is not None:
        raise UnknownParameterError(
            name=name[:_MAX_LENGTH], known=sorted(known), meant=_meant(name, known)
        )


def check_query(request: HttpRequest, known: frozenset[str]) -> None:
    """Look at the parameters of an address of the REST API before its endpoint does.

    One that is called otherwise is read as what is meant.
    """
    query = request.GET.copy()
    for name, meant in _OTHER_WORDS.items():
        if _is_sure(request, name, known) and name in query:
            query.setlist(meant, query.pop(name))
    request.GET = query  # type: ignore[assignment]  # as Django makes it itself
    check_names(_unknown(request, known), known)


def cleaned(form: Form) -> dict[str, Any]:
    """Return a query string's values; 400 for one that makes no sense."""
    if not form.is_valid():
        faults = (
            f"a {name!r} that cannot be read: {' '.join(map(str, texts))}"
            for name, texts in form.errors.items()
        )
        raise QueryError(
            message=f"The address has {'; '.join(faults)}",
            hint=hints_of(form) or "Give another value, or leave it out.",
        )
    return form.cleaned_data


def _unknown(request: HttpRequest, known: frozenset[str]) -> Iterator[str]:
    for name in request.GET:
        is_of_others = name in _OF_OTHERS or name.lower().startswith(_OF_OTHERS_BEGIN)
        if name not in known and not is_of_others:
            yield name


def _is_sure(request: HttpRequest, name: str, known: frozenset[str]) -> bool:
    meant = _OTHER_WORDS.get(name)
    return meant in known and meant not in request.GET


def _meant(name: str, known: frozenset[str]) -> str:
    others = {word: meant for word, meant in _OTHER_WORDS.items() if meant in known}
    words = {**{one: one for one in known}, **others}
    near = get_close_matches(name.lower()[:_MAX_LENGTH], words, n=1)
    return words[near[0]] if near else ""


def _renamed(request: HttpRequest, name: str, meant: str) -> str:
    """Return the address with a parameter called otherwise, or without it."""
    query = request.GET.copy()
    values = query.pop(name)
    if meant:
        query.setlist(meant, query.getlist(meant) or values)
    return address_with(request, query.urlencode())
