"""A table is registered once its location was checked: by pages, calls and `open`.

`deltaweb table add` registers several tables, all or none, and reads their logs itself:
see `management/verbs/adding`.
"""

from dataclasses import MISSING, dataclass
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple
from uuid import UUID

from django.shortcuts import resolve_url

from apps.accounts.models import User
from apps.jobs.listing.resource import JobOutcome, Started
from apps.jobs.listing.selectors import outcome_of
from apps.jobs.models import Job
from apps.jobs.waiting import wait_for
from apps.pages.actions import Stamp
from apps.pages.changes.change import EDITOR, Call, Change, Page, Subject
from apps.pages.changes.parameters import Line, parameter
from apps.tables.catalogue.changes import NAME
from apps.tables.catalogue.checks import CHECK_LOCATION, check_location, request_check
from apps.tables.catalogue.forms import RegisterQueryForm
from apps.tables.catalogue.names import free_name, name_from_path, parse_table_name
from apps.tables.catalogue.registration import (
    TableSettings,
    check_name_free,
    register_table,
)
from apps.tables.head.job_json import check_job
from apps.tables.head.shapes import TableResource, table_resource
from apps.tables.models import Table
from apps.tables.storage.connections import check_connection
from apps.tables.storage.locations import MAX_LENGTH, parse_location
from apps.tables.storage.roots import check_usable


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable(TableSettings):
    """A table that is to be registered.

    Attributes:
        name: `table`, or `namespace.table`.
        location: A folder of the server, or a URL of an object store.
        description: Its description in the catalog.
        restricted: Whether to make it private.
        connection: The name of the storage connection to read it through; null for the
            one that contains the location, if there is one.
    """

    name: str = parameter(MISSING, line=NAME)
    location: str = parameter(
        MISSING,
        line=Line(
            label="Location",
            most=MAX_LENGTH,
            is_needed=True,
            wrong="Give the location of the table.",
            codes=("location-invalid", "location-not-allowed"),
        ),
    )
    connection: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A table that was registered, or the check of its location that still runs."""

    table: TableResource | None = None
    job: JobOutcome | None = None


class Registering(NamedTuple):
    """Who registers a table, and the check of its location, if one was made."""

    user: User
    check: Job | None


def by_caller(caller: User) -> Registering:
    """Return the caller, whose location is still to be checked."""
    return Registering(caller, None)


def by_check(caller: User, check: str) -> Registering:
    """Return the caller, and a check that the caller requested."""
    return Registering(caller, own_check(caller, check))


def own_check(user: User, job_id: str | UUID | None) -> Job | None:
    """Return a check of a user; that of another user is None."""
    try:
        wanted = UUID(str(job_id))
    except ValueError:
        return None
    jobs = Job.objects.filter(kind=CHECK_LOCATION.name, requested_by=user)
    return jobs.filter(id=wanted).first()


def register(by: Registering, new: NewTable, stamp: Stamp) -> Registration:
    """Register a table once a worker has checked what is at its location."""
    name, job = parse_table_name(new.name), by.check
    location = job.parameters["location"] if job else parse_location(new.location)
    check_name_free(name)
    if new.connection is not None:
        check_connection(location, new.connection)
    if job is None:
        job = request_check(location=location, now=stamp.at, requested_by=by.user)
    wait_for(job)
    check_job(job)
    if job.state != Job.State.DONE:
        return Registration(job=outcome_of(job))
    table = register_table(
        name=name,
        location=location,
        settings=new,
        created_by=by.user,
        stamp=stamp,
    )
    return Registration(table=table_resource(table))


def open_table_at(text: str, *, base: Path, stamp: Stamp) -> Table:
    """Return the table at a location; one that is new is registered, and indexed.

    Args:
        text: A path or a URL.
        base: The folder that a relative path starts from.
    """
    where = parse_location(text, base=base)
    known = Table.objects.filter(location=where).first()
    if known is not None:
        return known
    check_usable(where, None)
    check_location(where)
    wanted = name_from_path((PurePosixPath(where).name or "table",))
    taken = set(Table.objects.values_list("namespace", "name"))
    name = free_name(wanted, taken)
    return register_table(name=name, location=where, stamp=stamp)


def _says(one: Registration) -> str:
    name = one.table.name if one.table else "No table"
    return f"{name} is registered."


def _address(one: Registration) -> str:
    if one.table is None:
        return resolve_url("api:job", one.job.id if one.job else "")
    return resolve_url("api:table", one.table.namespace, one.table.table)


def _shown(one: Registration) -> TableResource | Started | None:
    return one.table or (Started(one.job) if one.job else None)


REGISTER: Final = Change(
    of=Subject(noun="new-table", role=EDITOR, scope="write", find=by_caller),
    name="register",
    help="Register a table.",
    more="A worker checks the location first. If that takes long, the answer is 202 "
    "with the job: repeat the call when it has ended.",
    parameters=NewTable,
    do=register,
    is_atomic=False,
    result=Registration,
    says=_says,
    record=("table.register",),
    call=Call(
        "POST",
        "tables",
        view="TableList",
        status=202,
        is_new=lambda one: one.table is not None,
        location=_address,
        answers={201: TableResource, 202: Started},
        shown=_shown,
    ),
    page=Page(
        "tables/new",
        back=lambda _: resolve_url("tables:table-register"),
        name="table-register",
        find=by_check,
        takes=[RegisterQueryForm],
    ),
)
