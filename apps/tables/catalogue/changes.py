"""What editors change of a registered table: its settings, its name, its removal."""

from dataclasses import MISSING, dataclass, replace
from typing import Final

from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.pages.actions import Stamp
from apps.pages.changes.change import (
    VIEWER,
    Call,
    Change,
    Nothing,
    Page,
    Subject,
    Verb,
)
from apps.pages.changes.parameters import Line, parameter
from apps.pages.page_json import OnPage
from apps.pages.request.changes import UNCHANGED, Unchanged
from apps.tables.catalogue.names import MAX_NAME_LENGTH, find_table
from apps.tables.catalogue.organizing.labels import (
    LabelledTable,
    TableLabels,
    label_table,
    labels_text,
)
from apps.tables.catalogue.registration import (
    TableSettings,
    check_removable,
    describe_table,
    remove_table,
    rename_table,
    schedule_table,
)
from apps.tables.head.finding import OF_TABLE, get_table
from apps.tables.head.shapes import TableResource, table_resource
from apps.tables.models import Table
from apps.tables.models.schedules import (
    DEFAULT,
    SCHEDULES,
    Schedule,
    schedule_json,
    schedule_words,
)
from apps.tables.permissions import EDIT, MANAGE, require

NAME: Final = Line(
    label="Name",
    most=MAX_NAME_LENGTH,
    is_needed=True,
    wrong="A table needs a name.",
    codes=("table-name-invalid", "table-name-taken"),
)
PAGES: Final = "t/<str:namespace>/<str:name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChange(TableSettings, TableLabels):
    """The values of a table that change; a value that is left out stays.

    Attributes:
        name: `table`, or `namespace.table`.
        description: Its description in the catalog; null removes it.
        restricted: Whether it is private; to change that, an API key needs the scope
            `admin`.
        owner: The name of the account that owns it; null removes it.
        tags: All tags that it has afterwards, in any capitals; null removes them.
        refresh: Interval of checks for new commits; null for `default`.
    """

    name: str | Unchanged = parameter(UNCHANGED, None, line=NAME)
    refresh: Schedule | Unchanged | None = parameter(
        UNCHANGED,
        None,
        line=Line(label="Refresh", wrong="Choose one of the listed schedules."),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewName:
    """Another name.

    Attributes:
        new_name: `table`, or `namespace.table`.
    """

    new_name: str = parameter(MISSING, metavar="new")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchedule:
    """Another interval of checks for new commits; without it, the interval stays."""

    every: Schedule | Unchanged = parameter(
        UNCHANGED,
        nargs="?",
        choices=list(SCHEDULES),
        help="an interval; `default` is the interval of the installation, "
        "`never` only refreshes on request",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchedule:
    """How often new commits of a table are looked for.

    Attributes:
        refresh: The name of the interval.
        refresh_interval_s: Its seconds; None if only on request.
        words: The interval in words.
    """

    name: str
    refresh: str
    refresh_interval_s: int | None
    words: OnPage[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedTable:
    """A table that is not in the catalog any more; its files stay."""

    name: str
    location: str
    removed: bool = True


def check_may_edit(caller: User, table: Table) -> None:
    """Refuse a user without the right to edit a table."""
    require(caller, EDIT, table)


def check_may_manage(caller: User, table: Table) -> None:
    """Refuse a user who may not rename or remove a table."""
    require(caller, MANAGE, table)


def seen_table(caller: User, namespace: str, name: str) -> Table:
    """Return a table that the caller may see."""
    return get_table(caller, namespace, name)


def change_table(table: Table, new: TableChange, stamp: Stamp) -> TableResource:
    """Change the name, the labels, the schedule, or who may see a table."""
    if not isinstance(new.name, Unchanged):
        rename_table(table, name=new.name, stamp=stamp)
    describe_table(table, new, stamp)
    label_table(table, new, stamp)
    if not isinstance(new.refresh, Unchanged):
        schedule_table(table, refresh=new.refresh or DEFAULT, stamp=stamp)
    return table_resource(table)


def _rename(table: Table, new: NewName, stamp: Stamp) -> TableResource:
    return table_resource(rename_table(table, name=new.new_name, stamp=stamp))


def _schedule(table: Table, new: NewSchedule, stamp: Stamp) -> TableSchedule:
    change_table(table, TableChange(refresh=new.every), stamp)
    interval_s = table.refresh_interval_s
    return TableSchedule(
        name=table.full_name,
        words=schedule_words(interval_s),
        **schedule_json(interval_s),
    )


def _remove(table: Table, _: Nothing, stamp: Stamp) -> RemovedTable:
    removed = RemovedTable(name=table.full_name, location=table.location)
    remove_table(table, stamp=stamp)
    return removed


def _before_removal(table: Table, _: Nothing) -> str:
    check_removable(table)
    return f"Remove {table.full_name} from the catalog?"


def _would_remove(one: RemovedTable) -> tuple[RemovedTable, str]:
    said = f"Would remove {one.name}; its files would not be touched."
    return replace(one, removed=False), said


def _would_rename(one: TableResource) -> tuple[TableResource, str]:
    return one, f"The table would be named {one.name}."


def _would_label(one: LabelledTable) -> tuple[LabelledTable, str]:
    return one, f"Would change it: {labels_text(one)}"


def _would_schedule(one: TableSchedule) -> tuple[TableSchedule, str]:
    return one, f"{one.name} would be refreshed {one.words}."


def _settings(table: Table) -> str:
    return resolve_url("tables:table-settings", table.namespace, table.name)


TABLE: Final = Subject(
    noun="table", role=VIEWER, scope="write", find=find_table, may=check_may_edit
)
MANAGED: Final = replace(TABLE, may=check_may_manage)
UPDATE: Final = Change(
    of=TABLE,
    name="update",
    help="Change a table's name, description, labels, schedule, or who sees it.",
    parameters=TableChange,
    do=change_table,
    result=TableResource,
    says=lambda _: "Saved.",
    record=(
        *("table.rename", "table.describe", "table.hide", "table.show"),
        *("table.schedule", "table.set_owner", "table.tag"),
    ),
    call=Call("PATCH", OF_TABLE, view="Table", find=seen_table),
    page=Page(
        f"{PAGES}/settings",
        back=_settings,
        name="table-settings",
        find=seen_table,
        takes=["v"],
    ),
)
RENAME: Final = Change(
    of=TABLE,
    name="rename",
    help="Rename a table in the catalog.",
    parameters=NewName,
    do=_rename,
    result=TableResource,
    says=lambda one: f"Renamed to {one.name}",
    record=("table.rename",),
    verb=Verb(would=_would_rename),
)
LABEL: Final = Change(
    of=TABLE,
    name="label",
    help="Show or set the owner and the tags of a table.",
    parameters=TableLabels,
    do=label_table,
    result=LabelledTable,
    says=labels_text,
    record=("table.set_owner", "table.tag"),
    verb=Verb(would=_would_label),
)
SCHEDULE: Final = Change(
    of=TABLE,
    name="schedule",
    help="Show or set how often a table is refreshed.",
    parameters=NewSchedule,
    do=_schedule,
    result=TableSchedule,
    says=lambda one: f"{one.name} is refreshed {one.words}.",
    record=("table.schedule",),
    verb=Verb(would=_would_schedule),
)
REMOVE: Final = Change(
    of=MANAGED,
    name="remove",
    help="Remove a table from the catalog; its files stay.",
    parameters=Nothing,
    do=_remove,
    result=RemovedTable,
    says=lambda one: f"Removed {one.name}; its files were not touched.",
    record=("table.remove",),
    verb=Verb(question=_before_removal, would=_would_remove),
    call=Call("DELETE", OF_TABLE, view="Table", find=seen_table),
    page=Page(
        f"{PAGES}/remove",
        back=lambda _: resolve_url("tables:table-list"),
        find=seen_table,
        confirm=lambda table: table.full_name,
    ),
)
