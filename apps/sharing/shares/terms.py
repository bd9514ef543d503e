"""The terms on which a share offers a table, and how they are changed."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Self

from django import forms
from django.db import IntegrityError, transaction

from apps.pages.actions import Action, FieldChange, Stamp, report, report_changes
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged, sent_fields, value_of
from apps.sharing.access.directories import obstacle
from apps.sharing.access.earlier_urls import (
    later_end,
    longest_lifetime,
    url_lifetime,
)
from apps.sharing.access.errors import DirectoryRefusedError, TableOfSchemaError
from apps.sharing.access.grants.checks import check_columns, check_condition
from apps.sharing.access.grants.prepared import erase_all
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.activity.actions import action_on
from apps.sharing.errors import (
    ColumnsError,
    ConditionError,
    NameTakenError,
    ReceivedSharedError,
    StartVersionError,
)
from apps.sharing.models import Recipient, RecipientRule, Share, SharedTable
from apps.sharing.names import check_name, name_key
from apps.sharing.shares.forms import (
    MAX_COMMENT_LENGTH,
    MAX_FILTER_LENGTH,
    column_names,
)
from apps.tables.models import Table
from apps.tables.permissions import SHARE, require_by
from apps.tables.storage.received import provider_name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRule:
    """The rows and columns of a table that are offered; a value left out stays.

    Attributes:
        condition: Share only rows that meet this SQL condition; null for all rows.
            `recipient.KEY` is a property of the recipient.
        columns: Share only these columns; null for all columns.
    """

    condition: str | Unchanged | None = parameter(
        UNCHANGED,
        "--where",
        removed_by="--no-where --no-condition",
        line=Line(
            label="Only rows where",
            most=MAX_FILTER_LENGTH,
            codes=("condition-invalid",),
        ),
        metavar="SQL",
        help="share only rows that meet it; recipient.KEY is a property",
    )
    columns: list[str] | Unchanged | None = parameter(
        UNCHANGED,
        "--columns",
        removed_by="--no-columns",
        reads=column_names,
        line=Line(
            label="Only columns",
            most=MAX_FILTER_LENGTH,
            splits=column_names,
            codes=("columns-invalid",),
        ),
        metavar="A,B",
        help="share only these columns",
    )


# Without slots, as parameters have it as a second base.
@dataclass(frozen=True, kw_only=True)
class Versions:
    """The versions that are offered.

    Attributes:
        with_history: Whether recipients can read older versions.
    """

    with_history: bool | Unchanged = parameter(
        UNCHANGED,
        "--no-history",
        action="store_const",
        const=False,
        line=Line(label="With history"),
        help="share only the newest version, without time travel",
    )

    def as_stated(self) -> Self:
        """Return the same of a form: a box that was not sent is not checked."""
        return replace(self, with_history=self.with_history is True)

    @property
    def of_schema(self) -> dict[str, bool]:
        """What a new schema has of them; left out, its history is offered."""
        return sent_fields(with_history=self.with_history)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Versions, NewRule):
    """The part of a table that is offered, with its history.

    Attributes:
        start_version: The first version that recipients can read; null for all
            versions.
    """

    start_version: int | Unchanged | None = parameter(
        UNCHANGED,
        "--start-version",
        type=int,
        line=Line(
            label="History begins at version",
            wrong="Enter a version: a whole number.",
            codes=("start-version-invalid",),
        ),
        metavar="N",
        help="share the history from this version on",
    )

    @property
    def versions(self) -> dict[str, object]:
        """The fields of a new table of a share; a box that was not sent is empty."""
        start = value_of(self.start_version, None, removed=None)
        return {"with_history": self.with_history is True, "start_version": start}


# Without slots, as a second base.
@dataclass(frozen=True, kw_only=True)
class FileForm:
    """The form in which files are served.

    Attributes:
        plain: Whether files are served as plain Parquet, without deletion vectors and
            column mapping; files that are stored otherwise are copied.
    """

    plain: bool | Unchanged | None = parameter(
        UNCHANGED,
        "--plain",
        removed_by="--stored",
        action="store_const",
        const=True,
        line=Line(label="As plain files"),
        help="serve plain Parquet files, which simple clients read",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms(FileForm, Part):
    """All that is said of a table of a share.

    Attributes:
        comment: The comment that recipients see; null removes it.
        with_directory: Whether recipients can read the whole folder, with temporary
            credentials of its store.
        partition_filter: The old name of `condition`.
    """

    with_directory: bool | Unchanged = parameter(
        UNCHANGED,
        "--directory",
        action="store_const",
        const=True,
        line=Line(label="Also as a folder", codes=("directory-refused",)),
        help="also share its whole folder, with temporary credentials of the store",
    )
    comment: str | Unchanged | None = parameter(
        UNCHANGED,
        "--comment",
        line=Line(label="Comment", most=MAX_COMMENT_LENGTH),
        help="the comment that recipients see",
    )
    partition_filter: str | Unchanged | None = parameter(
        UNCHANGED, None, line=Line(label="Only rows where", most=MAX_FILTER_LENGTH)
    )

    @property
    def rule(self) -> NewRule:
        """The rule, whose condition may have been sent by its old name."""
        condition = self.condition
        if not isinstance(self.partition_filter, Unchanged):
            sent = None if isinstance(condition, Unchanged) else condition
            condition = sent or self.partition_filter
        return NewRule(condition=condition, columns=self.columns)


# === Changes ===

MAX_VERSION: Final = 2**63 - 1  # the largest that the log can name
_OFFER_ACTIONS: Final = {
    "start_version": "share.start_history",
    "condition": "share.filter_table",
    "columns": "share.choose_columns",
    "comment": "share.describe_table",
}
_SWITCHES: Final = {
    ("with_history", True): "share.open_history",
    ("with_history", False): "share.close_history",
    ("with_directory", True): "share.open_directory",
    ("with_directory", False): "share.close_directory",
    ("plain", True): "share.serve_plain",
    ("plain", False): "share.serve_stored",
}
OFFER_RECORDS: Final = (*_OFFER_ACTIONS.values(), *_SWITCHES.values())
"""The records of the update of a shared table."""


@transaction.atomic
def add_table(  # noqa: PLR0913 (where, what, by what names, and who asks)
    share: Share,
    *,
    table: Table,
    schema: str,
    name: str,
    terms: Terms | None = None,
    stamp: Stamp,
) -> SharedTable:
    """Put a table into a share, under a schema and a name of its own.

    Args:
        terms: A value that is left out offers all of its kind.
    """
    require_by(stamp, SHARE, table)
    if provider := provider_name(table.location):
        raise ReceivedSharedError(table=table.full_name, provider=provider)
    shared_table = SharedTable(
        share=share,
        table=table,
        schema=_schema_spelling(share, check_name(schema, "schema")),
        schema_key=name_key(schema),
        name=check_name(name, "table"),
        name_key=name_key(name),
        added_at=stamp.at,
        added_by_id=stamp.actor.user_id,
    )
    _take_terms(shared_table, terms or Terms())
    try:
        with transaction.atomic():
            shared_table.save(force_insert=True)
    except IntegrityError as error:
        raise NameTakenError(kind="table", name=shared_table.full_name) from error
    offer = shared_table.offer
    report(_table_action("share.add_table", shared_table, stamp, **offer))
    return shared_table


@transaction.atomic
def update_table(
    shared_table: SharedTable, terms: Terms, *, stamp: Stamp
) -> SharedTable:
    """Change what of a table is shared; None, or an empty value, takes a bound away.

    The start version is kept while history is closed, so that it holds when history is
    opened again.
    """
    require_by(stamp, SHARE, shared_table.table)
    before = shared_table.offer
    lifetime = longest_lifetime(shared_table)
    _take_terms(shared_table, terms)
    after = shared_table.offer
    changed = [name for name in after if after[name] != before[name]]
    changes = [
        FieldChange(_record_of(name, after[name]), before[name], after[name])
        for name in changed
    ]
    if not {*shared_table.terms, "plain"}.isdisjoint(changed):
        _end_earlier_urls(shared_table, lifetime, stamp)
        changed.append("earlier_urls_end_at")
    if report_changes(_table_action("", shared_table, stamp), changes):
        shared_table.save(update_fields=changed)
    return shared_table


@transaction.atomic
def narrow_table(
    shared_table: SharedTable, recipient: Recipient, new: NewRule, *, stamp: Stamp
) -> None:
    """Let one recipient see less of a table than the others.

    None, or an empty value, takes that part of the rule away.
    """
    require_by(stamp, SHARE, shared_table.table)
    # Of two updates at once, the second one begins with the rule of the first.
    SharedTable.objects.select_for_update().get(id=shared_table.id)
    facts = {"shared_table": shared_table, "recipient": recipient}
    rule = RecipientRule.objects.filter(**facts).first() or RecipientRule(**facts)
    before = rule.terms
    _take_rule(rule, shared_table.table, new)
    if rule.terms == before:
        return
    rule_before = rule_for(shared_table, recipient)
    if any(rule.terms.values()):
        rule.save()
    else:
        rule.delete()
    if rule_for(shared_table, recipient) != rule_before:
        lifetime = url_lifetime(shared_table, is_whole=rule_before.is_whole)
        _end_earlier_urls(shared_table, lifetime, stamp)
        shared_table.save(update_fields=["earlier_urls_end_at"])
    detail = {"recipient": recipient.name, **rule.terms}
    report(_table_action("share.narrow_table", shared_table, stamp, **detail))


@transaction.atomic
def remove_table(shared_table: SharedTable, *, stamp: Stamp) -> None:
    """Take a table out of a share; the table itself stays registered."""
    require_by(stamp, SHARE, shared_table.table)
    if shared_table.from_schema is not None:
        raise TableOfSchemaError(
            name=shared_table.full_name, schema=shared_table.from_schema.schema
        )
    report(_table_action("share.remove_table", shared_table, stamp))
    erase_all(shared_table)
    shared_table.delete()


def check_part(form: forms.Form) -> None:
    """Refuse a form of a part with an error as its fields have it."""
    if "start_version" in form.errors:
        raise StartVersionError(
            version=form["start_version"].value(), reason="it is not a whole number"
        )
    for name, error in (("condition", ConditionError), ("columns", ColumnsError)):
        if name in form.errors:
            raise error(sentence=str(form.errors[name][0]), columns=())


def _take_terms(shared: SharedTable, new: Terms) -> None:
    """Set the terms that were sent, as far as they may hold together."""
    shared.with_history = value_of(new.with_history, shared.with_history, removed=False)
    start = value_of(new.start_version, shared.start_version, removed=None)
    if start != shared.start_version:
        shared.start_version = start
        _check_start(shared)
    _take_rule(shared, shared.table, new.rule)
    shared.with_directory = value_of(
        new.with_directory, shared.with_directory, removed=False
    )
    shared.plain = value_of(new.plain, shared.plain, removed=False)
    shared.comment = value_of(new.comment, shared.comment, removed="").strip()
    _check_directory(shared)


def _take_rule(holder: SharedTable | RecipientRule, table: Table, new: NewRule) -> None:
    if not isinstance(new.condition, Unchanged):
        holder.condition = check_condition(table, new.condition or "")
    if not isinstance(new.columns, Unchanged):
        holder.columns = check_columns(table, new.columns or ())


def _record_of(name: str, value: object) -> str:
    """Return what is recorded when a field of a shared table has got a value."""
    if isinstance(value, bool):
        return _SWITCHES[name, value]
    return _OFFER_ACTIONS[name]


def _end_earlier_urls(
    shared_table: SharedTable, lifetime: timedelta | None, stamp: Stamp
) -> None:
    """Note until when the URLs open that were issued on the terms before."""
    shared_table.earlier_urls_end_at = later_end(
        shared_table.earlier_urls_end_at, [lifetime], at=stamp.at
    )


def _schema_spelling(share: Share, schema: str) -> str:
    """Return a schema as the share spells it already, so that it stays one."""
    alike = share.shared_tables.filter(schema_key=name_key(schema))
    return alike.values_list("schema", flat=True).first() or schema


def _check_start(shared: SharedTable) -> None:
    """Refuse a first version where no history can begin."""
    start, newest = shared.start_version, shared.table.latest_version_seen
    if start is None:
        return
    reason = ""
    if not shared.with_history:
        reason = "the table is shared without history"
    elif start < 0:
        reason = "the first version is 0"
    elif start > MAX_VERSION:
        reason = "it is too large"
    elif newest is not None and start > newest:
        reason = f"the newest version is {newest}"
    if reason:
        raise StartVersionError(version=start, reason=reason)


def _check_directory(shared: SharedTable) -> None:
    if shared.with_directory and (reason := obstacle(shared)):
        raise DirectoryRefusedError(name=shared.full_name, reason=reason)


def _table_action(
    name: str, shared_table: SharedTable, stamp: Stamp, **detail: object
) -> Action:
    registered_as = shared_table.table.full_name
    return action_on(name, stamp, shared_table, registered_as=registered_as, **detail)
