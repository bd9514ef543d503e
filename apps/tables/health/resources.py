"""A finding as every machine form has it, and as the page shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from django.urls import Resolver404, resolve

from apps.pages.page_json import OnPage, Spread, shaped
from apps.tables.extension.health_rules import HealthRule, rules_of_apps
from apps.tables.models import StoredFinding
from deltaweb.health.finding import Cost, Fact, about_length
from deltaweb.health.rules import RULES


def all_rules() -> dict[str, HealthRule]:
    """Return all rules by their names."""
    own = {rule.name: shaped(HealthRule, rule) for rule in RULES}
    return own | {rule.name: rule for rule in rules_of_apps}


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingResource:
    """A finding as scripts read it.

    Attributes:
        table: The name of the table; null for a finding about a share, a recipient or
            a token, whose name is in the sentence.
        severity: `act-now`, `costs` or `to-know`.
        evidence: Facts, each with `label`, `value` and `unit`.
        remedy: What is to be done: `operation`, `label`, `parameters` and `command`;
            null if nothing can be.
        since: Since when it holds, as far as is known.
        id: Its number, by which commands and calls change it.
    """

    rule: str
    table: str | None
    severity: str
    sentence: str
    evidence: Sequence[Mapping[str, Any]]
    remedy: Mapping[str, Any] | None
    since: datetime
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroup:
    """The findings of a list that have one rule, or are about one table.

    Attributes:
        about: A sentence about it; "" for none.
        count: The number of its findings on all pages.
    """

    title: str
    about: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding with what people said of it.

    Attributes:
        subject: What it is about: a table, a share or a recipient.
        cost: What it costs: `amount`, `unit` and `about`; null if that is not known.
        found_at: When the rule found it first.
        seen_at: When the rule found it last.
        closed_at: When it no longer held; null if it does.
        closed_version: The version of the table that fixed it; null if unknown.
        acknowledged_at: When a person took note of it; null before.
        muted_until: Until when it is left out of the list; null if it is not.
        assignee: The account that takes care of it.
    """

    resource: Spread[FindingResource]
    subject: str
    cost: Mapping[str, Any] | None
    found_at: datetime
    seen_at: datetime
    closed_at: datetime | None
    closed_version: int | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    muted_until: datetime | None
    muted_by: str | None
    assignee: str | None
    assigned_at: datetime | None
    title: OnPage[str]
    about: OnPage[str]
    advice: OnPage[str]
    age: OnPage[str]
    icon: OnPage[str]
    css: OnPage[str]
    subject_url: OnPage[str]
    remedy_url: OnPage[str]
    facts: OnPage[tuple[Fact, ...]]
    is_for_editors: OnPage[bool]
    cost_text: OnPage[str]
    group: OnPage[FindingGroup | None] = None

    @property
    def id(self) -> int:
        return self.resource.id

    @property
    def severity_words(self) -> str:
        return self.resource.severity.replace("-", " ")

    @property
    def namespace(self) -> str:
        """The namespace of the table with its dot; "" without one."""
        return self.subject.rpartition(".")[0] if self.resource.table else ""

    @property
    def name(self) -> str:
        """The name of the subject without its namespace."""
        return self.subject.rpartition(".")[2] if self.resource.table else self.subject


LOOKS: Final = {
    StoredFinding.Severity.ACT_NOW: ("circle-x", "he-a"),
    StoredFinding.Severity.COSTS: ("alert-triangle", "he-c"),
    StoredFinding.Severity.TO_KNOW: ("info-circle", "he-n"),
}


def finding_resource(found: StoredFinding) -> FindingResource:
    """Return a finding as scripts read it."""
    return FindingResource(
        id=found.pk,
        rule=found.rule,
        table=found.table.full_name if found.table else None,
        severity=found.severity_word,
        sentence=found.sentence,
        evidence=found.evidence,
        remedy=found.remedy,
        since=found.since,
    )


def finding_row(
    found: StoredFinding, rules: Mapping[str, HealthRule], now: datetime
) -> FindingRow:
    """Return a finding as a list has it."""
    is_muted = found.muted_until is not None and found.muted_until > now
    rule = rules.get(found.rule)
    icon, css = LOOKS[StoredFinding.Severity(found.severity)]
    url, is_for_editors = remedy_page(found)
    return FindingRow(
        resource=finding_resource(found),
        subject=found.label,
        cost=found.cost,
        found_at=found.found_at,
        seen_at=found.seen_at,
        closed_at=found.closed_at,
        closed_version=found.closed_version,
        acknowledged_at=found.acknowledged_at,
        acknowledged_by=found.acknowledged_by or None,
        muted_until=found.muted_until if is_muted else None,
        muted_by=(is_muted and found.muted_by) or None,
        assignee=found.assignee.get_username() if found.assignee else None,
        assigned_at=found.assigned_at,
        title=rule.title if rule else found.rule.replace("-", " ").capitalize(),
        about=rule.about if rule else "",
        advice=rule.advice if rule else "",
        age=about_length(((found.closed_at or now) - found.since).total_seconds()),
        icon=icon,
        css=css,
        subject_url=found.table.get_absolute_url()
        if found.table
        else found.subject_url,
        remedy_url=url,
        is_for_editors=is_for_editors,
        facts=tuple(Fact(**fact) for fact in found.evidence),
        cost_text=Cost(**found.cost).text if found.cost else "",
    )


def remedy_page(found: StoredFinding) -> tuple[str, bool]:
    """Return the page of a remedy with its choices filled in; "" without one.

    Returns:
        The address, and whether only editors may open it.
    """
    remedy = found.remedy
    if not remedy:
        return "", False
    query = urlencode(remedy["parameters"])
    address, is_for_editors = found.subject_url, False
    if found.table is not None:
        page = page_of_table(remedy["operation"])
        address = f"{found.table.get_absolute_url()}{remedy['operation']}"
        address, is_for_editors = address if page else "", page.startswith("tables:")
    return (f"{address}?{query}" if address and query else address), is_for_editors


@cache
def page_of_table(part: str) -> str:
    """Return the URL name of a page by the last part of its address; "" for none."""
    try:
        return resolve(f"/t/namespace/name/{part}").view_name
    except Resolver404:
        return ""
