"""What administrators ask of shares: make, fill, empty, delete."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from django.db import IntegrityError, transaction

from apps.pages.actions import (
    Action,
    FieldChange,
    Stamp,
    report,
    report_changes,
)
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
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
    NameTakenError,
    ReceivedSharedError,
    StartVersionError,
)
from apps.sharing.models import Recipient, Share, SharedTable
from apps.sharing.names import check_name, name_key, save_named
from apps.tables.models import Table
from apps.tables.storage.received import provider_name

MAX_VERSION: Final = 2**63 - 1  # the largest that the log can name
# What is recorded when a field of a shared table changes; history opens or closes.
_OFFER_ACTIONS: Final = {
    "start_version": "share.start_history",
    "condition": "share.filter_table",
    "columns": "share.choose_columns",
    "comment": "share.describe_table",
}

OFFER_RECORDS: Final = (
    *_OFFER_ACTIONS.values(),
    *("share.open_history", "share.close_history"),
    *("share.open_directory", "share.close_directory"),
)
"""The records of the update of a shared table."""
# The fields of a shared table that URLs of files are issued on.
_TERMS: Final = ("with_history", "start_version", "condition", "columns")


# === Shares ===


@transaction.atomic
def create_share(*, name: str, comment: str = "", stamp: Stamp) -> Share:
    """Make an empty share."""
    share = Share(
        name=check_name(name, "share"),
        name_key=name_key(name),
        comment=comment.strip(),
        created_at=stamp.at,
        created_by_id=stamp.actor.user_id,
    )
    save_named(share, "share")
    report(action_on("share.create", stamp, share))
    return share


@transaction.atomic
def rename_share(share: Share, *, name: str, stamp: Stamp) -> Share:
    """Give a share another name; recipients' clients must use it from then on."""
    old_name = share.name
    if name == old_name:
        return share
    share.name = check_name(name, "share")
    share.name_key = name_key(name)
    try:
        save_named(share, "share", fields=("name", "name_key"))
    except NameTakenError:
        share.name, share.name_key = old_name, name_key(old_name)
        raise
    report(action_on("share.rename", stamp, share, old=old_name, new=name))
    return share


@transaction.atomic
def update_share(
    share: Share, *, comment: str | Unchanged | None = UNCHANGED, stamp: Stamp
) -> Share:
    """Set what administrators and recipients read of a share."""
    comment = value_of(comment, share.comment, removed="").strip()
    change = FieldChange("share.update", share.comment, comment)
    if report_changes(action_on("", stamp, share), [change]):
        share.comment = comment
        share.save(update_fields=["comment"])
    return share


@transaction.atomic
def switch_share(share: Share, *, is_on: bool, stamp: Stamp) -> Share:
    """Turn a share on or off: one that is off is read by nobody from now on.

    Nothing of it is listed then, and files of this server open no more. URLs of object
    stores that were given out before stay good until they end.
    """
    if is_on != (share.off_since is not None):
        return share
    share.off_since = None if is_on else stamp.at
    share.save(update_fields=["off_since"])
    name = "share.switch_on" if is_on else "share.switch_off"
    report(action_on(name, stamp, share))
    return share


@transaction.atomic
def delete_share(share: Share, *, stamp: Stamp) -> None:
    """Delete a share with its grants; tables and recipients stay."""
    detail = {
        "tables": [table.full_name for table in share.shared_tables.all()],
        "recipients": [recipient.name for recipient in share.recipients.all()],
    }
    report(action_on("share.delete", stamp, share, **detail))
    for shared_table in share.shared_tables.all():
        erase_all(shared_table)
    share.delete()


# === Tables of a share ===


@transaction.atomic
def add_table(  # noqa: PLR0913 (each is one fact of the shared table)
    share: Share,
    *,
    table: Table,
    schema: str,
    name: str,
    with_history: bool = True,
    start_version: int | None = None,
    with_directory: bool = False,
    condition: str = "",
    columns: Iterable[str] | None = None,
    comment: str = "",
    stamp: Stamp,
) -> SharedTable:
    """Put a table into a share, under a schema and a name of its own."""
    if provider := provider_name(table.location):
        raise ReceivedSharedError(table=table.full_name, provider=provider)
    _check_history(table, with_history=with_history, start_version=start_version)
    shared_table = SharedTable(
        share=share,
        table=table,
        schema=_schema_spelling(share, check_name(schema, "schema")),
        schema_key=name_key(schema),
        name=check_name(name, "table"),
        name_key=name_key(name),
        comment=comment.strip(),
        with_history=with_history,
        start_version=start_version,
        with_directory=with_directory,
        condition=check_condition(table, condition),
        columns=check_columns(table, columns or ()),
        added_at=stamp.at,
        added_by_id=stamp.actor.user_id,
    )
    _check_directory(shared_table)
    try:
        with transaction.atomic():
            shared_table.save(force_insert=True)
    except IntegrityError as error:
        raise NameTakenError(kind="table", name=shared_table.full_name) from error
    detail = offer(shared_table)
    report(_table_action("share.add_table", shared_table, stamp, **detail))
    return shared_table


@transaction.atomic
def update_table(  # noqa: PLR0913 (each is one fact of the shared table)
    shared_table: SharedTable,
    *,
    with_history: bool | Unchanged = UNCHANGED,
    start_version: int | Unchanged | None = UNCHANGED,
    with_directory: bool | Unchanged = UNCHANGED,
    condition: str | Unchanged | None = UNCHANGED,
    columns: Iterable[str] | Unchanged | None = UNCHANGED,
    comment: str | Unchanged | None = UNCHANGED,
    stamp: Stamp,
) -> SharedTable:
    """Change what of a table is shared; None, or an empty value, takes a bound away.

    The start version is kept while history is closed, so that it holds when history is
    opened again.
    """
    table, before = shared_table.table, offer(shared_table)
    terms_before, lifetime = terms(shared_table), longest_lifetime(shared_table)
    shared_table.with_history = value_of(
        with_history, shared_table.with_history, removed=False
    )
    start = value_of(start_version, shared_table.start_version, removed=None)
    if start != shared_table.start_version:
        _check_history(
            table, with_history=shared_table.with_history, start_version=start
        )
        shared_table.start_version = start
    if not isinstance(condition, Unchanged):
        shared_table.condition = check_condition(table, condition or "")
    if not isinstance(columns, Unchanged):
        shared_table.columns = check_columns(table, columns or ())
    shared_table.with_directory = value_of(
        with_directory, shared_table.with_directory, removed=False
    )
    shared_table.comment = value_of(comment, shared_table.comment, removed="").strip()
    _check_directory(shared_table)
    after = offer(shared_table)
    names = _OFFER_ACTIONS | {
        "with_history": (
            "share.open_history" if shared_table.with_history else "share.close_history"
        ),
        "with_directory": (
            "share.open_directory"
            if shared_table.with_directory
            else "share.close_directory"
        ),
    }
    changed = [name for name in after if after[name] != before[name]]
    changes = [FieldChange(names[name], before[name], after[name]) for name in changed]
    if terms(shared_table) != terms_before:
        _end_earlier_urls(shared_table, lifetime, stamp)
        changed.append("earlier_urls_end_at")
    if report_changes(_table_action("", shared_table, stamp), changes):
        shared_table.save(update_fields=changed)
    return shared_table


@transaction.atomic
def narrow_table(
    shared_table: SharedTable,
    recipient: Recipient,
    *,
    condition: str | Unchanged | None = UNCHANGED,
    columns: Iterable[str] | Unchanged | None = UNCHANGED,
    stamp: Stamp,
) -> None:
    """Let one recipient see less of a table than the others.

    None, or an empty value, takes that part of the rule away.
    """
    table = shared_table.table
    # Of two updates at once, the second one begins with the rule of the first.
    SharedTable.objects.select_for_update().get(id=shared_table.id)
    known = shared_table.rules.filter(recipient=recipient).first()
    before: dict[str, object] = {
        "condition": known.condition if known else "",
        "columns": known.columns if known else [],
    }
    rule = dict(before)
    if not isinstance(condition, Unchanged):
        rule["condition"] = check_condition(table, condition or "")
    if not isinstance(columns, Unchanged):
        rule["columns"] = check_columns(table, columns or ())
    if rule == before:
        return
    rule_before = rule_for(shared_table, recipient)
    if any(rule.values()):
        shared_table.rules.update_or_create(recipient=recipient, defaults=rule)
    else:
        shared_table.rules.filter(recipient=recipient).delete()
    if rule_for(shared_table, recipient) != rule_before:
        lifetime = url_lifetime(shared_table, is_whole=rule_before.is_whole)
        _end_earlier_urls(shared_table, lifetime, stamp)
        shared_table.save(update_fields=["earlier_urls_end_at"])
    detail = {"recipient": recipient.name, **rule}
    report(_table_action("share.narrow_table", shared_table, stamp, **detail))


@transaction.atomic
def remove_table(shared_table: SharedTable, *, stamp: Stamp) -> None:
    """Take a table out of a share; the table itself stays registered."""
    if shared_table.from_schema is not None:
        raise TableOfSchemaError(
            name=shared_table.full_name, schema=shared_table.from_schema.schema
        )
    report(_table_action("share.remove_table", shared_table, stamp))
    erase_all(shared_table)
    shared_table.delete()


def terms(shared_table: SharedTable) -> dict[str, object]:
    """Return the terms that URLs of files are issued on; others end them."""
    found = offer(shared_table)
    return {name: found[name] for name in _TERMS}


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


def _check_history(
    table: Table, *, with_history: bool, start_version: int | None
) -> None:
    if start_version is None:
        return
    if not with_history:
        raise StartVersionError(
            version=start_version, reason="the table is shared without history"
        )
    if start_version < 0:
        raise StartVersionError(version=start_version, reason="versions begin at 0")
    if start_version > MAX_VERSION:
        raise StartVersionError(
            version=start_version, reason="no version of a table is so high"
        )
    newest = table.latest_version_seen
    if newest is not None and start_version > newest:
        raise StartVersionError(
            version=start_version, reason=f"the newest version is {newest}"
        )


def _check_directory(shared: SharedTable) -> None:
    if shared.with_directory and (reason := obstacle(shared)):
        raise DirectoryRefusedError(name=shared.full_name, reason=reason)


def offer(shared_table: SharedTable) -> dict[str, object]:
    """Return all that is set of a table of a share."""
    return {
        "with_history": shared_table.with_history,
        "start_version": shared_table.start_version,
        "with_directory": shared_table.with_directory,
        "condition": shared_table.condition,
        "columns": shared_table.columns,
        "comment": shared_table.comment,
    }


def _table_action(
    name: str, shared_table: SharedTable, stamp: Stamp, **detail: object
) -> Action:
    registered_as = shared_table.table.full_name
    return action_on(name, stamp, shared_table, registered_as=registered_as, **detail)
