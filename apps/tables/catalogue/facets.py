"""The facets of the catalogue: what its tables can be told apart by.

Each facet is counted under the other filters, by a query of its own.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Any, Final

from django.contrib.auth.models import AnonymousUser
from django.db.models import (
    Case,
    Count,
    F,
    Q,
    QuerySet,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

from apps.accounts.models import User
from apps.tables.catalogue.forms import STATUSES
from apps.tables.extension.marks import marks_for
from apps.tables.models import IS_BEHIND, Table

# Every table of today's protocol names these two.
_COMMON_FEATURES = {"appendOnly", "invariants"}
_PART_OF_TAG = re.compile(r"[\w.:/-]+")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|-")
_STATUS = Case(
    When(state=Table.State.FAILED, then=Value("failed")),
    When(state=Table.State.NEW, then=Value("new")),
    When(IS_BEHIND, then=Value("behind")),
    When(state=Table.State.UNSUPPORTED, then=Value("unsupported")),
    When(~Q(error_code=""), then=Value("unreachable")),
    default=Value("indexed"),
)
FIRST_NAMESPACES, FIRST_VALUES, MAX_VALUES = 12, 6, 40  # listed at once; at all
SEVERAL = ("feature", "tag")  # of which a table has several values
Group = dict[str, Any]  # values of facets, and how many tables have them
FEW: Final = 2_000  # tables; facets of more are loaded after the page
NAMES = {
    "namespace": "Namespace",
    "status": "State",
    "owner": "Owner",
    "tag": "Tag",
    "mark": "Marked",
    "feature": "Uses",
    "writer": "Last written by",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetValue:
    """One value of a facet and how many tables have it under the other filters."""

    value: str
    word: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """What tables can be told apart by.

    Attributes:
        chosen: The value that is asked for, or nothing.
        total: How many tables there are under the other filters.
        values: The most frequent first.
    """

    name: str
    label: str
    chosen: str
    total: int
    values: list[FacetValue]

    @property
    def is_useful(self) -> bool:
        """Whether one of its values leaves some of the tables out."""
        return bool(self.chosen) or any(one.count < self.total for one in self.values)

    @property
    def first_values(self) -> list[FacetValue]:
        """The values that are listed at once."""
        return self.values[: self._num_first]

    @property
    def more_values(self) -> list[FacetValue]:
        """The values that are folded."""
        return self.values[self._num_first : MAX_VALUES]

    @property
    def num_folded(self) -> int:
        return max(0, len(self.values) - self._num_first)

    @property
    def num_unlisted(self) -> int:
        return max(0, len(self.values) - MAX_VALUES)

    @property
    def chosen_is_folded(self) -> bool:
        """Whether the chosen value is among the folded ones."""
        return any(one.value == self.chosen for one in self.more_values)

    @property
    def _num_first(self) -> int:
        return FIRST_NAMESPACES if self.name == "namespace" else FIRST_VALUES

    def words_of(self, value: str) -> str:
        """Return the words of one of its values."""
        return word_of(self.name, value)


def described(tables: QuerySet[Table], user: User | AnonymousUser) -> Any:  # noqa: ANN401 (annotated rows)
    """Add `status`, `tag`, `writer`, `feature` and `mark` to tables.

    `feature` is the JSON text of the features of the newest protocol, `tag` that of all
    tags, and `mark` the first mark that a table bears; each may be empty.
    """
    borne = [When(id__in=m.tables(), then=Value(m.key)) for m in marks_for(user)]
    return with_tag(with_status(tables)).annotate(
        writer=F("last_writer"),
        feature=Cast("features", TextField()),
        mark=Case(*borne, default=Value("")) if borne else Value(""),
    )


def with_tag(tables: QuerySet[Table]) -> Any:  # noqa: ANN401 (as above)
    """Add `tag` to tables."""
    return tables.annotate(tag=Cast("tags", TextField()))


def with_owner(tables: QuerySet[Table]) -> Any:  # noqa: ANN401 (as above)
    """Add `owner` to tables; each of them is joined to an account for it."""
    return tables.annotate(owner=Coalesce(F("owned_by__username"), Value("")))


def labels_hold(text: str) -> Q:
    """Match tables, to which `with_tag` was applied, by owner or tag."""
    owners = User.objects.filter(username__icontains=text).order_by().values("pk")
    found = Q(owned_by__in=owners)
    if _PART_OF_TAG.fullmatch(text):  # other texts would match the JSON around the tags
        found |= Q(tag__icontains=json.dumps(text)[1:-1]) | Q(tag__icontains=text)
    return found


def with_status(tables: QuerySet[Table]) -> Any:  # noqa: ANN401 (as above)
    """Add `status` to tables."""
    return tables.annotate(status=_STATUS)


def filtered(tables: Any, chosen: Mapping[str, str]) -> Any:  # noqa: ANN401 (as above)
    """Keep the tables that have the chosen values; an empty one filters nothing."""
    for name, value in chosen.items():
        if not value:
            continue
        if name in SEVERAL:
            # PostgreSQL does not escape letters beyond ASCII; SQLite has what was sent.
            texts = {json.dumps(value), json.dumps(value, ensure_ascii=False)}
            held = (Q(**{f"{name}__contains": text}) for text in texts)
            tables = tables.filter(reduce(or_, held))
        elif name == "owner":
            tables = tables.filter(owned_by__username=value)
        else:
            tables = tables.filter(**{name: value})
    return tables


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How often each value of a facet occurs; each query waits until it is needed.

    Few tables are grouped once, by all facets. Of many, there would be about as many
    groups as tables, so each facet has a query of its own.

    Attributes:
        found: The tables that a search finds, to which `described` was applied.
        chosen: The value of each facet that is requested, or nothing.
        num_matching: How many of them have the chosen values; None if not counted.
    """

    found: Any
    chosen: Mapping[str, str]
    num_matching: int | None = None

    @cached_property
    def are_few(self) -> bool:
        """Whether the search is known to find few tables, without any chosen value."""
        if self.num_matching is None or self.num_matching > FEW:
            return False
        if not any(self.chosen.values()):
            return True
        return bool(self.found.order_by()[: FEW + 1].count() <= FEW)

    @cached_property
    def facets(self) -> dict[str, Facet]:
        """The facets by name, each counted under the others."""
        return {name: self._facet(name) for name in NAMES}

    @property
    def others(self) -> list[Facet]:
        """The useful facets other than the namespace."""
        found = (self.facets[name] for name in NAMES if name != "namespace")
        return [facet for facet in found if facet.is_useful]

    @cached_property
    def namespace(self) -> Facet:
        """The namespaces alone."""
        return facet_of("namespace", self.chosen["namespace"], self._namespaces)

    @cached_property
    def sizes(self) -> tuple[int | None, int]:
        """The bytes of the tables of known size (or None), and the number of others."""
        wanted = self.chosen["namespace"]
        shown = [
            one for one in self._namespaces if not wanted or one["namespace"] == wanted
        ]
        num_sized = sum(one["sized"] for one in shown)
        size_bytes = sum(one["bytes"] for one in shown) if num_sized else None
        return size_bytes, sum(one["tables"] for one in shown) - num_sized

    @cached_property
    def _namespaces(self) -> list[Group]:
        return self._groups("namespace")

    @cached_property
    def _all_groups(self) -> list[Group]:
        return _grouped(self.found, *NAMES)

    def _facet(self, name: str) -> Facet:
        if name == "namespace":
            return self.namespace
        return facet_of(name, self.chosen[name], self._groups(name))

    def _groups(self, name: str) -> list[Group]:
        others = {**self.chosen, name: ""}
        if not self.are_few:
            return _grouped(filtered(self.found, others), name)
        wanted = [(key, value) for key, value in others.items() if value]
        return [
            group
            for group in self._all_groups
            if all(value in _values(group, key) for key, value in wanted)
        ]


def _grouped(tables: Any, *names: str) -> list[Group]:  # noqa: ANN401 (as above)
    """Count tables, and those of known size and their bytes, by facets."""
    if "owner" in names:
        tables = with_owner(tables)
    groups = tables.order_by().values(*names)
    return list(
        groups.annotate(
            tables=Count("id"),
            sized=Count("size_bytes"),
            bytes=Coalesce(Sum("size_bytes"), 0),
        )
    )


def facet_of(name: str, chosen: str, groups: list[Group]) -> Facet:
    """Return a facet from the numbers of tables by its value."""
    counts: dict[str, int] = {}
    for group in groups:
        for value in _values(group, name):
            counts[value] = counts.get(value, 0) + group["tables"]
    counts.pop("", None)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Facet(
        name=name,
        label=NAMES[name],
        chosen=chosen,
        total=sum(group["tables"] for group in groups),
        values=[
            FacetValue(value=value, word=word_of(name, value), count=count)
            for value, count in ordered
        ],
    )


def feature_words(name: str) -> str:
    """Return the name of a table feature as words: deletion vectors."""
    return _WORDS.sub(" ", name).lower()


def _values(group: Group, name: str) -> Iterable[str]:
    if name not in SEVERAL:
        return (group[name],)
    texts = _several(group[name] or "null")
    return texts - _COMMON_FEATURES if name == "feature" else texts


@lru_cache(maxsize=1_000)
def _several(text: str) -> frozenset[str]:
    """Return the texts of a JSON array; many tables have the same features and tags."""
    return frozenset(json.loads(text) or ())


def word_of(name: str, value: str) -> str:
    """Return the words of a value of a facet."""
    if name == "status":
        return STATUSES.get(value, value)
    return feature_words(value) if name == "feature" else value
