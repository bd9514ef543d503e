"""What the step *What they see* shows of a table: which rows for whom, at what cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.sharing.access.grants.rule_preview import (
    FirstRows,
    PartPreview,
    ReadBudget,
    RulePreview,
    preview_rules,
)
from apps.sharing.access.grants.rules import HasRule, TableRule, rule_of
from apps.sharing.access.grants.seen_rows import SeenRowsFound, look_at_rows
from apps.sharing.models import PreparedVersion, Recipient
from apps.sharing.recipients.properties import property_texts
from apps.sharing.recipients.resource import values_of, with_values
from apps.sharing.shares.parts.form import NewPart, TypedPart, columns_of
from apps.tables.models import Table
from deltaweb.conditions.recipients import NAME, Property
from deltaweb.delta.errors import DeltaError, PredicateError
from deltaweb.delta.protocol.schema import type_text
from deltaweb.words import bytes_text, counted, cut

MAX_RULES: Final = 12
"""Rules of one table whose files are judged while a page is waited for."""
MAX_READERS: Final = 50
MAX_BOXES: Final = 400
"""Columns with a box; a table with more has a text field."""
FREE: Final = "costs nothing extra"


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewed:
    """A recipient as which a table is viewed.

    Attributes:
        recipient: The recipient, which may not be stored yet.
        own: The rule that it has for itself; None without one.
        is_new: Whether it is made together with the share.
    """

    recipient: Recipient
    own: HasRule | None = None
    is_new: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyLine:
    """A property that the condition uses, of one recipient.

    Attributes:
        name: The name of its field in the form.
    """

    key: str
    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderLine:
    """A recipient with the properties it needs, and the rows it sees.

    Attributes:
        num_rows: None if it is not known yet.
        own: The condition or columns of its own rule, as text.
        error: What is wrong with a property that was typed.
    """

    name: str
    is_new: bool
    is_viewed: bool
    values: list[PropertyLine]
    missing: list[str]
    num_rows: int | None
    is_counting: bool
    own: str
    error: str

    @property
    def is_blind(self) -> bool:
        """Whether it sees no row, or surely none because a property is missing."""
        return self.num_rows == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnLine:
    """A column with its box.

    Attributes:
        cost: What it costs to leave it out.
    """

    name: str
    type: str
    is_seen: bool
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPart:
    """A table as one recipient sees it, with the form of its rule.

    Attributes:
        names: The columns that have a box, in their order.
        asked: The properties that the condition uses, without `recipient.name`.
        known: The names of the properties that recipients have.
        viewed: The recipient as which it is viewed; "" for one that has no property.
        preview: What becomes of the files for this recipient; None if that is not
            known.
        proof: The newest proof of this very rule, of a share that exists.
        first: The first rows.
        problem: Why there is no preview; "" if there is one.
        jobs: What still counts rows.
        failed: What could not count them; None if nothing failed.
        num_more: Recipients that have no line.
    """

    condition: str
    columns: list[ColumnLine]
    names: list[str]
    asked: list[str]
    known: list[str]
    readers: list[ReaderLine]
    choices: list[str]
    viewed: str
    num_rows: int | None
    preview: RulePreview | None
    proof: PreparedVersion | None
    first: FirstRows | None
    errors: Mapping[str, str]
    problem: str
    jobs: list[Job]
    failed: Job | None
    num_more: int

    @property
    def num_seen(self) -> int:
        """How many columns are seen."""
        return sum(column.is_seen for column in self.columns)

    def line_of(self, name: str) -> ReaderLine | None:
        """Return the line of a recipient; None without one."""
        return next((one for one in self.readers if one.name == name), None)

    @property
    def seen_rows(self) -> int | None:
        """How many rows the viewed recipient sees."""
        return next((one.num_rows for one in self.readers if one.is_viewed), None)

    @property
    def has_text_field(self) -> bool:
        """Whether the table has too many columns for boxes."""
        return len(self.columns) > MAX_BOXES


@dataclass(slots=True)
class _Found:
    """What was found out about the rules of a table.

    Attributes:
        rules: The rule of each recipient, by its name.
        rows: How many rows a rule shows, by its digest.
        jobs: What counts the rows of a rule, by its digest.
    """

    rules: dict[str, TableRule] = field(default_factory=dict)
    preview: PartPreview | None = None
    problem: str = ""
    rows: dict[str, int] = field(default_factory=dict)
    first: FirstRows | None = None
    jobs: dict[str, Job] = field(default_factory=dict)

    def preview_of(self, name: str) -> RulePreview | None:
        """Return the preview for a recipient; None if it is not known."""
        if self.preview is None or name not in self.rules:
            return None
        return self.preview.rules.get(self.rules[name].digest)

    @property
    def asked(self) -> list[str]:
        """The properties that the conditions use."""
        keys = {key: None for rule in self.rules.values() for key in rule.asked}
        return [key for key in keys if key != NAME]


def shown_part(  # noqa: PLR0913 (a table, its rule, who sees it, and who looks)
    table: Table,
    part: NewPart,
    readers: Sequence[Viewed],
    *,
    viewed: str,
    typed: TypedPart | None = None,
    proofs: Mapping[str, PreparedVersion] | None = None,
    is_plain: bool = False,
    budget: ReadBudget | None = None,
    user: User,
    now: datetime,
) -> ShownPart:
    """Return what the step shows of a table.

    Args:
        part: The rule, stored or typed.
        readers: Those who read it, in the order of their lines.
        viewed: The name of the one as which it is viewed; any other text for the first.
        typed: What was typed of properties.
        proofs: The newest proof of each rule, by its digest.
        is_plain: Whether the table is offered as plain files.
        budget: What may be read for the counts of a page of several tables, which
            shows no rows and starts no jobs; None for a page of this one.
        user: The person who looks; without the right to see the table, nothing of
            its rows is shown.
    """
    proofs = proofs or {}
    lines = [*readers[:MAX_READERS]] or [Viewed(recipient=Recipient(name=""))]
    seen_by = next((r for r in readers if r.recipient.name == viewed), lines[0])
    if seen_by not in lines:
        lines[-1] = seen_by
    name = seen_by.recipient.name
    found = _Found(problem="Correct the marked field first." if part.is_wrong else "")
    if not part.is_wrong:
        _bind(found, part, lines, is_plain=is_plain)
    if found.rules and Table.objects.visible_to(user).filter(id=table.id).exists():
        _judge(found, table, name, budget)
        asks = (
            None
            if budget
            else lambda rule, version: look_at_rows(
                table, rule, version, now=now, requested_by=user
            )
        )
        _count(found, name, proofs, asks)
    own = found.rules.get(name)
    preview = found.preview_of(name)
    return ShownPart(
        condition=part.condition,
        columns=_columns(table, part, preview),
        names=[column.name for column in columns_of(table)],
        asked=found.asked,
        known=sorted({key for one in readers for key in values_of(one.recipient)}),
        readers=[
            _line(one, place, found, part, typed, is_viewed=one is seen_by)
            for place, one in enumerate(lines)
            if one.recipient.name
        ],
        choices=[one.recipient.name for one in readers],
        viewed=name,
        num_rows=found.preview.num_rows if found.preview else None,
        preview=preview,
        proof=proofs.get(own.digest) if own else None,
        first=found.first,
        errors=part.errors,
        problem=found.problem,
        jobs=[job for job in found.jobs.values() if job.is_active],
        failed=next((job for job in found.jobs.values() if job.can_be_retried), None),
        num_more=max(0, len(readers) - len(lines)),
    )


def _bind(
    found: _Found, part: NewPart, lines: Sequence[Viewed], *, is_plain: bool
) -> None:
    """Find the rule of each recipient."""
    for one in lines:
        name = one.recipient.name
        values = part.values.get(name, values_of(one.recipient))
        held: list[HasRule] = [part, one.own] if one.own else [part]
        seen_by = with_values(one.recipient, values)
        found.rules[name] = rule_of(held, seen_by, is_plain=is_plain)
    try:
        _ = [rule.digest for rule in found.rules.values()]
    except PredicateError as error:
        found.rules, found.problem = {}, error.message


def _judge(found: _Found, table: Table, viewed: str, budget: ReadBudget | None) -> None:
    """Judge the files under the rule that is viewed, and under some others."""
    rules = {rule.digest: rule for rule in found.rules.values()}
    digest = found.rules[viewed].digest
    wanted = [rules.pop(digest), *rules.values()][:MAX_RULES]
    try:
        found.preview = preview_rules(
            table,
            wanted,
            viewed="" if budget else digest,
            budget=budget or ReadBudget(),
        )
    except DeltaError as error:
        found.problem = error.message


def _count(
    found: _Found,
    viewed: str,
    proofs: Mapping[str, PreparedVersion],
    asks: Callable[[TableRule, int], tuple[Job, SeenRowsFound | None]] | None,
) -> None:
    """Find out how many rows each rule shows: by the log, by a proof, or by a job.

    Args:
        asks: Returns the job that counts the rows of a rule, and its result.
    """
    if found.preview is None:
        return
    version, shown = found.preview.version, found.rules[viewed].digest
    rules = {rule.digest: rule for rule in found.rules.values()}
    for digest, preview in found.preview.rules.items():
        num_rows, proof = preview.num_rows, proofs.get(digest)
        if num_rows is None and proof is not None and proof.version == version:
            num_rows = proof.num_rows
        if digest == shown:
            found.first = preview.first
        is_unread = digest == shown and preview.first is None
        if asks is not None and (num_rows is None or is_unread):
            found.jobs[digest], counted_rows = asks(rules[digest], version)
            if counted_rows is not None:
                num_rows = counted_rows.num_rows
                found.first = counted_rows.first if is_unread else found.first
        if num_rows is not None:
            found.rows[digest] = num_rows


def _line(  # noqa: PLR0913 (a line, and the form it is in)
    one: Viewed,
    place: int,
    found: _Found,
    part: NewPart,
    typed: TypedPart | None,
    *,
    is_viewed: bool,
) -> ReaderLine:
    name = one.recipient.name
    sent = typed.texts.get(name, {}) if typed is not None else {}
    stored = part.values.get(name, values_of(one.recipient))
    texts = {**texts_of(stored), **sent}
    rule = found.rules.get(name)
    job = found.jobs.get(rule.digest) if rule else None
    return ReaderLine(
        name=name,
        is_new=one.is_new,
        is_viewed=is_viewed,
        values=[
            PropertyLine(key=key, name=f"set{place}-{key}", value=texts.get(key, ""))
            for key in (found.asked if rule else sent)
        ],
        missing=rule.missing if rule else [],
        num_rows=found.rows.get(rule.digest) if rule else None,
        is_counting=job is not None and job.is_active,
        own=_own_text(one.own),
        error=part.faults.get(name, ""),
    )


def texts_of(values: Mapping[str, Property]) -> dict[str, str]:
    """Return the text of each property, by its name in lower case."""
    pairs = (text.split("=", 1) for text in property_texts(values))
    return {key.lower(): text for key, text in pairs}


def _own_text(own: HasRule | None) -> str:
    if own is None:
        return ""
    parts = [own.condition] if own.condition else []
    if own.columns:
        parts.append(f"columns {', '.join(own.columns)}")
    return cut("; ".join(parts), 200)


def _columns(
    table: Table, part: NewPart, preview: RulePreview | None
) -> list[ColumnLine]:
    """Return the columns of a table, each with the cost of leaving it out."""
    return [
        ColumnLine(
            name=column.name,
            type=type_text(column.data_type),
            is_seen=not part.columns or column.name in part.columns,
            cost=_cost(part, preview, column.name),
        )
        for column in columns_of(table)
    ]


def _cost(part: NewPart, preview: RulePreview | None, name: str) -> str:
    """Return what leaving a column out costs: any one rewrites the untouched files."""
    is_out = bool(part.columns) and name not in part.columns
    if preview is None:
        return "left out" if is_out else ""
    whole = preview.inside
    files = f"{counted(whole.num_files, 'more file')}, {bytes_text(whole.size_bytes)}"
    if is_out:
        return f"left out: rewrites {files}" if whole.num_files else "left out"
    if part.columns or not whole.num_files:
        return FREE
    return f"would rewrite {files}"
