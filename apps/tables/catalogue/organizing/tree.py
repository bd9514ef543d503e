"""The tree of the catalog: its namespaces, and the tables of one, a part at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote_plus, urlencode

from django import forms
from django.contrib.auth.models import AnonymousUser
from django.db.models import Count
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.pages.changes.change import VIEWER
from apps.pages.changes.read import Read, reads
from apps.pages.lists.links import address_of, changed
from apps.pages.request.parameters import cleaned
from apps.pages.responses import respond
from apps.tables.catalogue.facets import FacetValue
from apps.tables.catalogue.listing import TABLES, matching_tables

LOADED: Final = 200  # tables of a namespace that one answer has
LISTED: Final = 300  # namespaces beside the list
FILTERS: Final = TABLES.filters


class TreeForm(forms.Form):
    """The filters of the catalog, and the name after which the next part begins."""

    after = forms.CharField(max_length=200, required=False)


TreeForm.base_fields |= FILTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeTable:
    """A table of a namespace.

    Attributes:
        name: Its name in the namespace.
    """

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceCount:
    """A namespace, and how many tables it has under the filters."""

    namespace: str
    tables: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLine:
    """A namespace beside the list of the catalog.

    Attributes:
        url: The list of its tables, under the other filters.
        branch_url: The part of the tree that has them.
        is_chosen: Whether the list shows this namespace alone.
    """

    name: str
    count: int
    url: str
    branch_url: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """The tables of a namespace, or a part of them.

    Attributes:
        next: The address of the next part; None at the end.
    """

    tables: list[TreeTable]
    next: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogTree:
    """The namespaces, or the tables of the one that is requested.

    Attributes:
        namespace: The one that is requested; empty for the namespaces.
        namespaces: Those that have tables under the filters, by name.
        tables: The tables of the requested namespace, by name.
        next: The address of the next tables; null at the end.
    """

    namespace: str
    namespaces: list[NamespaceCount]
    tables: list[TreeTable]
    next: str | None


def branch_of(
    user: User | AnonymousUser, filters: Mapping[str, str], *, after: str = ""
) -> Branch:
    """Return the tables of `filters["namespace"]` after a name, by one query."""
    found = matching_tables(user, filters).filter(name__gt=after).order_by("name")
    names = list(found.values_list("namespace", "name")[: LOADED + 1])
    shown = names[:LOADED]
    more = {**filters, "after": shown[-1][1]} if len(names) > LOADED else None
    return Branch(
        tables=[TreeTable(name=one[1], url=address_of("t", *one)) for one in shown],
        next=tree_url(more) if more else None,
    )


def tree_url(filters: Mapping[str, str]) -> str:
    """Return the address of a part of the tree."""
    query = urlencode({key: value for key, value in filters.items() if value})
    return resolve_url("tables:table-tree") + "?" * bool(query) + query


def lines_of(
    request: HttpRequest, filters: Mapping[str, str], namespaces: Sequence[FacetValue]
) -> list[TreeLine]:
    """Return the first namespaces by name, with their addresses in the catalog.

    There are hundreds of them, so the part that their addresses share is made once.
    """
    of_list = _until_namespace(changed(request, namespace=None, page=None))
    of_tree = _until_namespace(tree_url({**filters, "namespace": ""}))
    return [
        TreeLine(
            name=one.value,
            count=one.count,
            url=of_list + quote_plus(one.value),
            branch_url=of_tree + quote_plus(one.value),
            is_chosen=one.value == filters["namespace"],
        )
        for one in namespaces[:LISTED]
    ]


def _until_namespace(address: str) -> str:
    return f"{address}{'&' if '?' in address else '?'}namespace="


def table_tree(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the namespaces; htmx requests the tables of one when it is opened."""
    values = cleaned(TreeForm(request.GET))
    after, namespace = values.pop("after"), values["namespace"]
    branch = branch_of(request.user, values, after=after) if namespace else None
    page = CatalogTree(
        namespace=namespace,
        namespaces=[] if branch else _namespaces(request.user, values),
        tables=branch.tables if branch else [],
        next=branch.next if branch else None,
    )
    return respond(
        request,
        fmt,
        template="tables/catalogue/table_tree.html",
        context={"page": page, "branch": branch},
        data=page,
        fragment="branch",
    )


def _namespaces(
    user: User | AnonymousUser, filters: Mapping[str, str]
) -> list[NamespaceCount]:
    found = matching_tables(user, filters).order_by("namespace")
    counts = found.values_list("namespace").annotate(tables=Count("id"))
    return [NamespaceCount(namespace=one, tables=tables) for one, tables in counts]


reads.register(
    Read(
        route="namespaces",
        view="NamespaceTree",
        page="tables:table-tree",
        shows=CatalogTree,
        help="List the namespaces, or the tables of one.",
        role=VIEWER,
    )
)
