"""The page of rules and their thresholds, which a namespace may have of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, NamedTuple

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import resolve_url

from apps.accounts.permissions import signed_in
from apps.pages.actions import Action, Stamp, report
from apps.pages.changes.change import (
    EDITOR,
    VIEWER,
    Call,
    Change,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.changes.read import Read, reads
from apps.pages.errors import PageError
from apps.pages.page_json import OnPage
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.pages.responses import respond_page
from apps.tables.catalogue.names import parse_namespace
from apps.tables.extension.health_rules import HealthRule
from apps.tables.health.examining import examine_table
from apps.tables.health.resources import all_rules
from apps.tables.models import NamespaceThresholds, Table
from apps.tables.permissions import EDIT, require_in
from deltaweb.health.finding import amount_text
from deltaweb.health.thresholds import MAX_THRESHOLD, Thresholds

AT_ONCE: Final = 200
"""Tables of a namespace that are examined at once; others wait for the next look."""


class ThresholdUnknownError(PageError, code="health-threshold-unknown"):
    """No rule has a threshold of this name."""

    threshold: str
    status = 404
    message = "There is no health threshold {threshold:.60r}."
    hint = "The page of rules lists the thresholds."


class NamespaceThreshold(NamedTuple):
    """A threshold in a namespace, by their names."""

    namespace: str
    threshold: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThreshold:
    """The value of a threshold.

    Attributes:
        value: In the unit of the threshold; null for the usual value.
    """

    value: int | Unchanged | None = parameter(
        UNCHANGED,
        "--value",
        removed_by="--usual",
        metavar="N",
        help="in the unit of the threshold; default: the current value",
        line=Line(
            label="Value",
            least=1,
            most=MAX_THRESHOLD,
            wrong="Give a whole number from 1.",
            codes=("health-threshold-invalid",),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdResource:
    """A threshold of the rules.

    Attributes:
        unit: The unit of its values.
        about: What it means.
        usual: The value without another one.
        namespaces: The values of namespaces that have one of their own.
    """

    name: str
    unit: str
    about: str
    usual: int
    namespaces: Mapping[str, int]

    @property
    def usual_text(self) -> str:
        return amount_text(self.usual, self.unit)

    @property
    def others(self) -> list[tuple[str, str]]:
        """The namespaces with a value of their own, each with it and its unit."""
        own = self.namespaces.items()
        return [(name, amount_text(value, self.unit)) for name, value in own]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRules:
    """All rules and thresholds."""

    rules: list[HealthRule]
    thresholds: list[ThresholdResource]
    namespaces: OnPage[list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedThreshold:
    """A threshold of a namespace after a change.

    Attributes:
        value: The value that its tables have now.
        is_own: Whether that is not the usual one.
    """

    namespace: str
    threshold: str
    value: int
    is_own: bool


def rule_list(namespaces: list[str]) -> HealthRules:
    """Return all rules, and the values that some namespaces have.

    Args:
        namespaces: Those that the user may see.
    """
    found = NamespaceThresholds.objects.filter(namespace__in=namespaces)
    stored = {one.namespace: one.values for one in found.order_by("namespace")}
    usual = Thresholds()
    thresholds = [
        ThresholdResource(
            name=one.name,
            unit=str(one.metadata["unit"]),
            about=str(one.metadata["about"]),
            usual=getattr(usual, one.name),
            namespaces={
                name: values[one.name]
                for name, values in stored.items()
                if one.name in values
            },
        )
        for one in fields(Thresholds)
    ]
    return HealthRules(
        rules=[*all_rules().values()], thresholds=thresholds, namespaces=namespaces
    )


def rules_page(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Show the rules and their thresholds."""
    tables = Table.objects.visible_to(signed_in(request))
    names = tables.order_by("namespace").values_list("namespace", flat=True).distinct()
    page = rule_list(list(names))
    return respond_page(request, fmt, page, template="tables/health/rule_list.html")


def threshold_of(namespace: str, threshold: str) -> NamespaceThreshold:
    """Return a threshold and a namespace by their names.

    Raises:
        ThresholdUnknownError: If there is no such threshold.
    """
    if threshold not in {one.name for one in fields(Thresholds)}:
        raise ThresholdUnknownError(threshold=threshold)
    return NamespaceThreshold(parse_namespace(namespace), threshold)


def set_threshold(
    subject: NamespaceThreshold, new: NewThreshold, stamp: Stamp
) -> ChangedThreshold:
    """Give the tables of a namespace another threshold, and examine them."""
    namespace, name = subject
    stored, _ = NamespaceThresholds.objects.select_for_update().get_or_create(
        namespace=namespace, defaults={"changed_at": stamp.at}
    )
    old = stored.values.get(name)
    value = old if isinstance(new.value, Unchanged) else new.value
    values = {key: one for key, one in stored.values.items() if key != name}
    if value is not None:
        values[name] = value
    limits = Thresholds().changed(values)
    if values:
        stored.values, stored.changed_at = values, stamp.at
        stored.save()
    else:
        stored.delete()
    for table in Table.objects.filter(namespace=namespace)[:AT_ONCE]:
        examine_table(table, now=stamp.at, thresholds=limits)
    if value != old:
        detail = {"namespace": namespace, "threshold": name, "old": old, "new": value}
        report(Action(name="health.set_threshold", stamp=stamp, detail=detail))
    return ChangedThreshold(
        namespace=namespace,
        threshold=name,
        value=getattr(limits, name),
        is_own=value is not None,
    )


def _said(one: ChangedThreshold) -> str:
    kind = "" if one.is_own else ", which is the usual value"
    return f"{one.threshold} of {one.namespace} is {one.value:,}{kind}."


SET_THRESHOLD: Final = Change(
    of=Subject(
        noun="health",
        role=EDITOR,
        scope="write",
        find=threshold_of,
        may=lambda caller, one: require_in(caller, EDIT, one.namespace),
    ),
    name="threshold",
    help="Change a threshold of the health rules for the tables of a namespace.",
    more="Null removes it. The tables are examined again.",
    parameters=NewThreshold,
    do=set_threshold,
    result=ChangedThreshold,
    says=_said,
    record=("health.set_threshold",),
    verb=Verb(),
    call=Call(
        "PUT",
        "health/thresholds/<str:namespace>/<str:threshold>",
        view="HealthThreshold",
        status=200,
    ),
    page=Page(
        "health/thresholds/set",
        back=lambda _: resolve_url("tables:rule-list"),
        name="threshold-set",
    ),
)
reads.register(
    Read(
        route="health/rules",
        view="HealthRules",
        page="tables:rule-list",
        shows=HealthRules,
        help="List the health rules and their thresholds.",
        role=VIEWER,
    )
)
