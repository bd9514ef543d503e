"""What administrators change of received shares: add a provider, look again, forget."""

import json
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, Final

from django.shortcuts import resolve_url
from django.utils import timezone

from apps.jobs.listing.resource import Started
from apps.jobs.waiting import address_of, started
from apps.pages.actions import Stamp
from apps.pages.changes.change import ADMIN, Call, Change, Nothing, Page, Subject, Verb
from apps.pages.changes.parameters import parameter
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import OnPage, Spread
from apps.sharing.shares.received.listing import (
    ProviderRow,
    ReceivedPage,
    provider_row,
)
from apps.sharing.shares.received.services import (
    add_provider,
    find_provider,
    lake_of,
    remove_provider,
)
from apps.tables.catalogue.lakes.scan_job import request_scan
from apps.tables.catalogue.lakes.scanning import scan_lake
from apps.tables.models import StorageConnection
from deltaweb.storage.received.errors import ProfileInvalidError
from deltaweb.storage.received.profile import MAX_PROFILE_BYTES
from deltaweb.words import counted

ROUTE: Final = "received/<str:name>"


def read_file(path: str) -> bytes:
    """Return the bytes of a profile file; of a large one, more than are taken."""
    there = Path(path).expanduser()
    try:
        with there.open("rb") as file:
            return file.read(MAX_PROFILE_BYTES + 1)
    except OSError as error:
        reason = f"{there} cannot be read ({error.strerror})"
        raise ProfileInvalidError(reason=reason) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProvider:
    """The profile of a provider that shares with us.

    Attributes:
        name: Your name for the provider, which is also the namespace of its tables.
        profile: The content of the profile file.
        replace: Whether to replace the profile of a known provider.
    """

    name: str = parameter(
        MISSING, help=("your name for the provider; its tables are NAME.…")
    )
    profile: dict[str, Any] = parameter(
        MISSING, reads=read_file, metavar="profile.share"
    )
    replace: bool = parameter(
        default=False,
        option="--replace",
        action="store_true",
        help="replace the profile of a known provider",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAt:
    """A provider that was asked what it shares.

    Attributes:
        found: What was found, in words; "" while a job looks.
        scan: The job; None for a command.
    """

    row: Spread[ProviderRow]
    found: OnPage[str] = ""
    scan: OnPage[Started | None] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenProvider:
    """A provider whose profile and tables were removed.

    Attributes:
        tables: The names that they had in the catalogue.
    """

    name: str
    removed: bool = True
    tables: list[str]


def add(_: None, new: NewProvider, stamp: Stamp) -> LookedAt:
    """Try a profile, keep it sealed, and look for its tables."""
    profile: object = new.profile  # bytes of a file, if a command read it
    text = profile if isinstance(profile, (str, bytes)) else json.dumps(profile)
    provider = add_provider(
        name=new.name,
        profile=text,
        replace=new.replace,
        stamp=stamp,
    )
    return look(provider, Nothing(), stamp)


def look(provider: StorageConnection, _: Nothing, stamp: Stamp) -> LookedAt:
    """Ask a provider what it shares: by a job, or at once for a command."""
    found, scan = "", None
    if stamp.actor.user_id is None:
        report = scan_lake(lake_of(provider), is_asked=True, stamp=stamp)
        found = (
            f"{counted(report.num_found, 'table')}, {len(report.registered)} new,"
            f" {len(report.vanished)} withdrawn"
        )
    else:
        scan = started(request_scan(provider.prefix, stamp=stamp))
    row = provider_row(provider, now=timezone.now())
    return LookedAt(row=row, found=found, scan=scan)


def forget(provider: StorageConnection, _: Nothing, stamp: Stamp) -> ForgottenProvider:
    """Forget a provider, and take its tables out of the catalogue."""
    gone = remove_provider(provider, stamp=stamp)
    return ForgottenProvider(name=provider.name, tables=gone)


def _said_added(one: LookedAt) -> str:
    provider = one.row.resource
    if not one.found:
        return f"Connected to {provider.name}; its token is stored encrypted."
    tables = "table is" if provider.num_tables == 1 else "tables are"
    return f"{provider.name} answers: {provider.num_tables} {tables} registered."


def _said_looked(one: LookedAt) -> str:
    name = one.row.resource.name
    if one.found:
        return f"{name} was refreshed: {one.found}."
    return f"{name} is being refreshed; this page shows the result."


def _before_removal(provider: StorageConnection, _: Nothing) -> str:
    count = lake_of(provider).tables.count()
    return f"Remove {provider.name} and its {count} tables?"


NEW_PROVIDER: Final = Subject(
    noun="received", role=ADMIN, scope="share", find=lambda: None
)
PROVIDER: Final = Subject(
    noun="received", role=ADMIN, scope="share", find=find_provider
)
SCANNED: Final = ("table.register", "lake.scan")
ADDED: Final = ("storage.add", "storage.replace", "lake.add")
ADD: Final = Change(
    of=NEW_PROVIDER,
    name="add",
    help="Add the profile of a provider.",
    more="The profile is tested and stored encrypted, and its tables are listed.",
    parameters=NewProvider,
    do=add,
    is_atomic=False,
    result=LookedAt,
    says=_said_added,
    record=ADDED,
    verb=Verb(),
    call=Call(
        "POST",
        "received",
        view="ReceivedList",
        location=lambda one: resolve_url("api:received", one.row.resource.name),
    ),
)
REFRESH: Final = Change(
    of=PROVIDER,
    name="refresh",
    help="Refresh the tables that a provider shares.",
    parameters=Nothing,
    do=look,
    is_atomic=False,
    result=LookedAt,
    says=_said_looked,
    record=SCANNED,
    verb=Verb(),
    call=Call(
        "POST",
        f"{ROUTE}/refresh",
        view="ReceivedRefresh",
        status=202,
        location=lambda one: address_of(one.scan),
        answers=Started,
        shown=lambda one: one.scan,
    ),
    page=Page(
        f"{ROUTE}/look",
        back=lambda _: resolve_url("sharing:received-list"),
        name="received-look",
    ),
)
REMOVE: Final = Change(
    of=PROVIDER,
    name="remove",
    help="Remove a provider and its tables.",
    parameters=Nothing,
    do=forget,
    result=ForgottenProvider,
    says=lambda one: f"{one.name} and {len(one.tables)} tables are removed.",
    record=("storage.remove", "lake.remove", "table.remove"),
    verb=Verb(question=_before_removal),
    call=Call("DELETE", ROUTE, view="Received"),
    page=Page(f"{ROUTE}/remove", back=lambda _: resolve_url("sharing:received-list")),
)
reads.register(
    Read(
        route="received",
        view="ReceivedList",
        page="sharing:received-list",
        shows=ReceivedPage,
        help="List the providers, and the tables that they share with you.",
        role=ADMIN,
    ),
    Read(
        route=ROUTE,
        view="Received",
        finds=lambda name: provider_row(find_provider(name), now=timezone.now()),
        shows=ProviderRow,
        help="Get a provider and the tables that it shares.",
        role=ADMIN,
    ),
)
