"""The facets of the catalogue: what its tables can be told apart by.

Tables are grouped once, by everything that a facet counts; each facet is then counted
under the other filters.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import (
    Case,
    Count,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

from apps.accounts.models import User
from apps.tables.catalogue.forms import STATUSES
from apps.tables.extension.marks import marks_for
from apps.tables.models import IS_BEHIND, Commit, ProtocolVersion, Table

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
        return _word(self.name, value)


def described(tables: QuerySet[Table], user: User | AnonymousUser) -> Any:  # noqa: ANN401 (annotated rows)
    """Add `status`, `owner`, `tag`, `writer`, `feature` and `mark` to tables.

    `feature` is the JSON text of the features of the newest protocol, `tag` that of all
    tags, and `mark` the first mark that a table bears; each may be empty.
    """
    newest = Commit.objects.filter(table=OuterRef("pk"), version=OuterRef("version"))
    protocol = ProtocolVersion.objects.filter(table=OuterRef("pk")).order_by("-version")
    features = Cast(Subquery(protocol.values("writer_features")[:1]), TextField())
    borne = [When(id__in=m.tables(), then=Value(m.key)) for m in marks_for(user)]
    return with_labels(with_status(tables)).annotate(
        writer=Coalesce(Subquery(newest.values("user_name")[:1]), Value("")),
        feature=Coalesce(features, Value("", output_field=TextField())),
        mark=Case(*borne, default=Value("")) if borne else Value(""),
    )


def with_labels(tables: QuerySet[Table]) -> Any:  # noqa: ANN401 (as above)
    """Add `owner` and `tag` to tables."""
    return tables.annotate(
        owner=Coalesce(F("owned_by__username"), Value("")),
        tag=Cast("tags", TextField()),
    )


def labels_hold(text: str) -> Q:
    """Match tables, to which `with_labels` was applied, by owner or tag."""
    found = Q(owner__icontains=text)
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
        else:
            tables = tables.filter(**{name: value})
    return tables


def grouped(found: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (as above)
    """Count tables, and those of known size and their bytes, by all facets at once."""
    groups = (
        found.order_by()
        .values(*NAMES)
        .annotate(
            tables=Count("id"),
            sized=Count("size_bytes"),
            bytes=Coalesce(Sum("size_bytes"), 0),
        )
    )
    return [
        {
            **group,
            "feature": _texts(group["feature"]) - _COMMON_FEATURES,
            "tag": _texts(group["tag"]),
        }
        for group in groups
    ]


def matching(
    groups: Iterable[dict[str, Any]], chosen: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the groups that have the chosen values."""
    return [
        group
        for group in groups
        if all(
            not value or value in _values(group, name) for name, value in chosen.items()
        )
    ]


def facets_of(
    groups: list[dict[str, Any]], chosen: Mapping[str, str]
) -> dict[str, Facet]:
    """Count each facet under the others."""
    return {name: _facet(groups, name, chosen) for name in NAMES}


def feature_words(name: str) -> str:
    """Return the name of a table feature as words: deletion vectors."""
    return _WORDS.sub(" ", name).lower()


def _facet(groups: list[dict[str, Any]], name: str, chosen: Mapping[str, str]) -> Facet:
    counts: dict[str, int] = {}
    others = matching(groups, {**chosen, name: ""})
    for group in others:
        for value in _values(group, name):
            counts[value] = counts.get(value, 0) + group["tables"]
    counts.pop("", None)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return Facet(
        name=name,
        label=NAMES[name],
        chosen=chosen[name],
        total=sum(group["tables"] for group in others),
        values=[
            FacetValue(value=value, word=_word(name, value), count=count)
            for value, count in ordered
        ],
    )


def _values(group: Mapping[str, Any], name: str) -> Iterable[str]:
    value: Any = group[name]
    return value if name in SEVERAL else (value,)


def _word(name: str, value: str) -> str:
    if name == "status":
        return STATUSES.get(value, value)
    return feature_words(value) if name == "feature" else value


def _texts(text: str) -> frozenset[str]:
    names = json.loads(text) if text else None
    return frozenset(names or ())
