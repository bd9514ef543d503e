"""The tables of the catalogue: register, rename, describe, schedule, remove."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from apps.accounts.models import Scope, User
from apps.accounts.permissions import check_scope_by
from apps.jobs.models import Job
from apps.news.publishing import publish
from apps.pages.actions import (
    COMMAND_LINE,
    Action,
    Actor,
    FieldChange,
    Stamp,
    report,
    report_changes,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.request.changes import UNCHANGED, Unchanged, value_of
from apps.tables.catalogue.names import TableName, parse_table_name
from apps.tables.errors import TableInUseError, TableNameTakenError
from apps.tables.extension import guards
from apps.tables.index.folders import index_folders
from apps.tables.index.refresh import index_new, refresh_table
from apps.tables.models import Namespace, Table
from apps.tables.models.news import TABLES, tell_changed
from apps.tables.models.schedules import SCHEDULES, schedule_name
from apps.tables.permissions import (
    EDIT,
    MANAGE,
    OWN,
    give_own,
    require_by,
    require_in_by,
)
from apps.tables.storage.locations import parse_location
from apps.tables.storage.roots import check_not_shared, check_usable

# Who sees a table that is not restricted, and one that is.
_SEEN_BY = {False: "everybody", True: "editors and administrators"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """The description of a table, and who may see it.

    A value that is left out stays; a new table has no description, and is open.

    Attributes:
        description: Its description in the catalog; null removes it.
        restricted: Whether it is private: only people and groups with a right, and
            administrators, see it.
    """

    description: str | Unchanged | None = parameter(
        UNCHANGED,
        "--description",
        metavar="DESCRIPTION",
        line=Line(label="Description"),
        help="description in the catalog",
    )
    restricted: bool | Unchanged = parameter(
        UNCHANGED,
        "--restricted",
        action="store_true",
        line=Line(label="Visible to"),
        help="make it private: only rights on it, and administrators, count",
    )

    def after(self, table: Table) -> tuple[str, bool]:
        """Return the description of a table and whether it is hidden, with these."""
        description = value_of(self.description, table.description, removed="")
        hidden = value_of(self.restricted, table.is_private, removed=table.is_private)
        return description.strip(), hidden


AS_NEW: Final = TableSettings()


@transaction.atomic
def register_table(  # noqa: PLR0913 (each is one fact of the table)
    *,
    name: str | TableName,
    location: str,
    settings: TableSettings = AS_NEW,
    created_by: User | None = None,
    stamp: Stamp,
    made_by: str = "",
    detail: Mapping[str, object] | None = None,
) -> Table:
    """Add a table to the catalogue and queue its first index.

    Nothing is read here: `checks.check_location` says what is at the location. One that
    was made just now is recorded as `made_by` says, with `detail`.
    """
    parsed = parse_table_name(name) if isinstance(name, str) else name
    where = parse_location(location)
    check_usable(where, created_by, MANAGE)
    require_in_by(stamp, EDIT, parsed.namespace)
    check_name_free(parsed)
    table = Table(
        namespace=parsed.namespace,
        name=parsed.name,
        location=where,
        created_at=stamp.at,
        created_by=created_by,
        probe_due_at=stamp.at,
    )
    table.description, table.is_private = settings.after(table)
    Namespace.objects.ensure([parsed.namespace], stamp.at)
    if table.is_hidden:
        check_not_shared([table], table.full_name)
    _save_named(table, parsed)
    if table.is_private:
        give_own(table, stamp)
    facts = {"location": where, "restricted": table.is_private, **(detail or {})}
    report(_action(made_by or "table.register", table, stamp, facts))
    refresh_table(table, requested_by=created_by, now=stamp.at)
    return table


@transaction.atomic
def register_many(
    tables: Sequence[Table], *, created_by: User | None, stamp: Stamp
) -> None:
    """Add tables to the catalogue by few statements, and queue their first index.

    Args:
        tables: New rows; their names are free, and their locations are allowed. No open
            table shows the files of one in a private namespace.
    """
    for table in tables:
        table.created_at = table.probe_due_at = stamp.at
        table.created_by = created_by
    Namespace.objects.ensure((table.namespace for table in tables), stamp.at)
    Table.objects.bulk_create(tables)
    for table in tables:
        facts = {"location": table.location, "restricted": table.is_private}
        report(_action("table.register", table, stamp, facts))
    index_new(tables, now=stamp.at, requested_by=created_by)
    publish(TABLES)


@transaction.atomic
def rename_table(table: Table, *, name: str, stamp: Stamp) -> Table:
    """Give a table another name; its address changes with it."""
    parsed = parse_table_name(name)
    if (table.namespace, table.name) == (parsed.namespace, parsed.name):
        return table
    require_by(stamp, MANAGE, table)
    if parsed.namespace != table.namespace:
        for namespace in (table.namespace, parsed.namespace):
            require_in_by(stamp, MANAGE, namespace)
    check_name_free(parsed)
    # Whoever saw nothing of it in a private namespace sees nothing of it afterwards.
    table.is_private = table.is_hidden
    detail = {"old": table.full_name, "new": str(parsed)}
    was_hidden = table.is_private
    table.take_name(parsed.namespace, parsed.name)
    into_private = Namespace.objects.private_names().filter(name=parsed.namespace)
    if into_private.exists() and not was_hidden:
        check_not_shared([table], table.full_name)
    Namespace.objects.ensure([parsed.namespace], stamp.at)
    _save_named(table, parsed, update_fields=["namespace", "name", "is_private"])
    report(_action("table.rename", table, stamp, detail))
    return table


@transaction.atomic
def describe_table(table: Table, settings: TableSettings, stamp: Stamp) -> Table:
    """Set what people read of a table and who may see it."""
    description, is_private = settings.after(table)
    if is_private != table.is_private:
        require_by(stamp, OWN, table)
        check_scope_by(stamp, Scope.ADMIN)  # as the change of its access does
    if is_private and not table.is_private:
        check_not_shared([table], table.full_name)
    seen_by = (_SEEN_BY[table.is_private], _SEEN_BY[is_private])
    changes = (
        FieldChange("table.describe", table.description, description),
        FieldChange("table.hide" if is_private else "table.show", *seen_by),
    )
    if report_changes(_action("", table, stamp, {}), changes):
        new = {"description": description, "is_private": is_private}
        changed = [key for key, value in new.items() if getattr(table, key) != value]
        table.description, table.is_private = description, is_private
        table.save(update_fields=changed)
        tell_changed(table)
    return table


@transaction.atomic
def schedule_table(table: Table, *, refresh: str, stamp: Stamp) -> Table:
    """Set how often new commits are looked for, by one of the names in `SCHEDULES`.

    A table that is given an interval is due at once.
    """
    interval_s, old_s = SCHEDULES[refresh], table.refresh_interval_s
    if interval_s == old_s:
        return table
    table.refresh_interval_s = interval_s
    table.probe_due_at = stamp.at
    table.save(update_fields=["refresh_interval_s", "probe_due_at"])
    detail = {"old": schedule_name(old_s), "new": refresh}
    report(_action("table.schedule", table, stamp, detail))
    return table


@transaction.atomic
def remove_table(table: Table, *, stamp: Stamp) -> None:
    """Take a table out of the catalogue; its own files are never touched."""
    require_by(stamp, MANAGE, table)
    check_removable(table)
    folder = index_folders(table.id)
    active = Job.objects.active().filter(subject_id=table.id)
    active.filter(cancel_requested_at=None).update(cancel_requested_at=stamp.at)
    active.filter(state=Job.State.QUEUED).update(
        state=Job.State.CANCELLED, finished_at=stamp.at
    )
    detail = {"location": table.location}
    report(_action("table.remove", table, stamp, detail))
    if table.lake is not None:
        table.lake.removed = sorted({*table.lake.removed, table.location})
        table.lake.save(update_fields=["removed"])
    try:
        table.delete()
    except ProtectedError as error:  # somebody began to use it just now
        users = guards.users_of(table)
        raise TableInUseError(name=table.full_name, users=users) from error
    publish(TABLES)
    transaction.on_commit(lambda: shutil.rmtree(folder, ignore_errors=True))


def check_removable(table: Table) -> None:
    """Refuse while something still uses the table."""
    if users := guards.users_of(table):
        raise TableInUseError(name=table.full_name, users=users)


def check_name_free(name: TableName) -> None:
    """Refuse a name that another table has."""
    taken = Table.objects.filter(namespace=name.namespace, name=name.name)
    if taken.exists():
        raise TableNameTakenError(name=str(name))


def _save_named(
    table: Table, name: TableName, update_fields: list[str] | None = None
) -> None:
    """Save; the database has the last word where two ask for one name at once."""
    try:
        with transaction.atomic():
            table.save(update_fields=update_fields)
    except IntegrityError as error:
        raise TableNameTakenError(name=str(name)) from error


def stamp_for(user: User | None, now: datetime) -> Stamp:
    """Return what a user does, as the record has it; None is the command line."""
    if user is None:
        return Stamp(COMMAND_LINE, now)
    return Stamp(Actor(name=user.username, user_id=user.pk), now)


def _action(
    name: str, table: Table, stamp: Stamp, detail: Mapping[str, object]
) -> Action:
    return Action(
        name=name, stamp=stamp, table=table.full_name, table_id=table.id, detail=detail
    )
