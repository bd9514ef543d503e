"""What operations on a table's definition share: how they are planned and told."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from apps.tables.operations.operation import Operation, commit_text, register
from apps.tables.operations.preview import OperationPreview, RunContext
from deltaweb.delta.changes.schema import FieldAspect
from deltaweb.delta.changes.settings import VERSIONS
from deltaweb.delta.features.registry import writer_features
from deltaweb.delta.protocol.table_properties import CONSTRAINT_PREFIX
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.writing.operations.definition_plan import (
    DefinitionPlan,
    carry_out_definition,
)
from deltaweb.delta.writing.transaction import CommitResult, Transaction
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from deltaweb.delta.changes.schema import SchemaChanges
    from deltaweb.delta.snapshot.state import Definition
    from deltaweb.delta.writing.requirements import CheckedRows

P = TypeVar("P")

Change = Callable[["Definition", P, str], Transaction]
"""Makes the transaction of what holds, what is asked, and the table's root."""

MAX_TEXT_LENGTH: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolUpgrade:
    """What becomes of the protocol.

    Attributes:
        reader: Its version now and then; None where it stays.
        writer: Likewise.
        features: The features that come.
        shut_out: Clients that can no longer write.
    """

    reader: tuple[int, int] | None
    writer: tuple[int, int] | None
    features: tuple[str, ...]
    shut_out: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Both versions and the features."""
        versions = [
            f"{who} {change[0]} -> {change[1]}"
            for who, change in (("reader", self.reader), ("writer", self.writer))
            if change
        ]
        brings = [f"it brings {', '.join(self.features)}"] if self.features else []
        return "; ".join([*versions, *brings])


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionLine:
    """A part of the definition, now and then.

    Attributes:
        kind: Its kind, such as "property" or "column".
        before: Its text now; None of a new one.
        after: Its text then; None of one that goes.
    """

    kind: str
    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintCheck:
    """What the rows of a table say to a new constraint.

    Attributes:
        num_rows: All rows.
        num_violating: Rows that break it.
        rows: The first of these: pairs of a name and a text, None for null.
    """

    name: str
    sql: str
    num_rows: int
    num_violating: int
    rows: tuple[tuple[tuple[str, str | None], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionDetail:
    """What else the preview of a change of the definition shows.

    Attributes:
        protocol: None where it stays.
        checked: None of anything but a new constraint.
    """

    protocol: ProtocolUpgrade | None
    changes: tuple[DefinitionLine, ...]
    checked: ConstraintCheck | None


def planned_by(
    change: Change[P],
) -> Callable[[DeltaTable, P, RunContext], DefinitionPlan]:
    """Return the plan of an operation whose change looks at no row."""

    def plan(opened: DeltaTable, asked: P, _context: RunContext) -> DefinitionPlan:
        return opened.plan_definition(lambda base: change(base, asked, opened.root))

    return plan


def register_change(
    *,
    change: Change[P],
    plan: Callable[[DeltaTable, P, RunContext], DefinitionPlan] | None = None,
    **said: Any,  # noqa: ANN401 (what else an operation says of itself)
) -> Operation[P, DefinitionPlan, DefinitionDetail, CommitResult]:
    """Make the operation of a change of the definition known, and return it.

    Args:
        change: Says what becomes another.
        plan: Of a change that looks at rows, too.
        said: What else `Operation` takes.
    """
    return register(
        Operation(
            plan=plan or planned_by(change),
            preview=preview_definition,
            detail=DefinitionDetail,
            carry_out=carry_out_change,
            result=CommitResult,
            result_text=commit_text,
            **said,
        )
    )


def preview_definition(plan: DefinitionPlan) -> OperationPreview[DefinitionDetail]:
    """Tell how the definition changes, the protocol first."""
    detail = DefinitionDetail(
        protocol=_protocol(plan) if plan.protocol.count else None,
        changes=tuple(_changes(plan)),
        checked=_checked(plan.checked) if plan.checked else None,
    )
    checked = detail.checked
    return OperationPreview(
        version=plan.base.version,
        counts={
            "num_changes": len(detail.changes),
            "num_violating": checked.num_violating if checked else 0,
            **{
                name: getattr(plan.transaction.next_protocol, name) for name in VERSIONS
            },
        },
        detail=lambda: detail,
        is_empty=plan.transaction.is_empty,
        says=_says(plan),
        lines=lambda: () if plan.transaction.is_empty else _lines(detail),
        exact=lambda: {"operation": plan.transaction.operation},
    )


def carry_out_change(
    opened: DeltaTable, plan: DefinitionPlan, context: RunContext
) -> CommitResult:
    """Commit what was planned."""
    return carry_out_definition(opened.store, plan, user_name=context.user_name)


def _checked(checked: "CheckedRows") -> ConstraintCheck:
    return ConstraintCheck(
        name=checked.constraint.name,
        sql=checked.constraint.sql,
        num_rows=checked.num_rows,
        num_violating=checked.num_violating,
        rows=tuple(
            tuple((name, _text(value)) for name, value in row.items())
            for row in checked.rows
        ),
    )


def _says(plan: DefinitionPlan) -> str:
    if plan.transaction.is_empty:
        return "Nothing to commit: it is so already."
    return (
        f"Would commit version {plan.base.version + 1}, {plan.transaction.operation}."
    )


def _lines(detail: DefinitionDetail) -> Iterator[str]:
    if protocol := detail.protocol:
        yield f"The protocol upgrade cannot be undone: {protocol.sentence}."
        clients = ", ".join(protocol.shut_out) or "none of those that are known here"
        yield f"Clients that can no longer write: {clients}."
    for change in detail.changes:
        before, after = change.before or "nothing", change.after or "nothing"
        yield f"  {change.kind} {change.name}: {before} -> {after}"
    checked = detail.checked
    if not checked:
        return
    if not checked.num_violating:
        yield f"True for all {checked.num_rows:,} rows."
        return
    yield f"{checked.num_violating:,} of {checked.num_rows:,} rows break it:"
    for row in checked.rows:
        yield "  " + ", ".join(
            f"{name}={'NULL' if value is None else value}" for name, value in row
        )


def _protocol(plan: DefinitionPlan) -> ProtocolUpgrade:
    versions = {
        change.name: (change.before, change.after) for change in plan.protocol.changed
    }
    return ProtocolUpgrade(
        reader=versions.get("min_reader_version"),
        writer=versions.get("min_writer_version"),
        features=tuple(_new_features(plan)),
        shut_out=tuple(client.words for client in plan.shut_out),
    )


def _new_features(plan: DefinitionPlan) -> Iterator[str]:
    """Yield what comes into the lists, and what a higher version brings."""
    yield from (change.name for change in plan.protocol.added)
    listed = {change.name for change in plan.protocol.added}
    known = {*writer_features(plan.base.protocol), *listed}
    brought = writer_features(plan.transaction.next_protocol)
    yield from (name for name in brought if name not in known)


def _changes(plan: DefinitionPlan) -> Iterator[DefinitionLine]:
    for kind, values in (("property", plan.properties), ("table", plan.details)):
        for change in (*values.added, *values.changed, *values.removed):
            is_rule = change.name.startswith(CONSTRAINT_PREFIX)
            name = change.name.removeprefix(CONSTRAINT_PREFIX)
            word = "constraint" if is_rule else kind
            yield _change(word, name, change.before, change.after)
    yield from _columns(plan.schema)


def _columns(schema: "SchemaChanges") -> Iterator[DefinitionLine]:
    for change in schema.added:
        after = change.after
        yield _change("column", change.name, None, after.type_text if after else None)
        if after is not None and after.comment:
            yield _change("comment", change.name, None, after.comment)
    for change in schema.removed:
        before = change.before
        yield _change("column", change.name, before.type_text if before else None, None)
    for change in schema.changed:
        before, after = change.before, change.after
        if change.old_name:
            yield _change("name", change.name, change.old_name, change.path[-1])
        if FieldAspect.TYPE in change.aspects and before and after:
            yield _change("type", change.name, before.type_text, after.type_text)
        if before and after and before.comment != after.comment:
            yield _change("comment", change.name, before.comment, after.comment)


def _change(
    kind: str, name: str, before: object | None, after: object | None
) -> DefinitionLine:
    return DefinitionLine(
        kind=kind, name=name, before=_text(before), after=_text(after)
    )


def _text(value: object | None) -> str | None:
    return None if value is None else cell_text(value)[:MAX_TEXT_LENGTH]
