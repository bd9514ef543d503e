"""What administrators change of storages: add, test, remove, encrypt again.

Options go in, and never come out. They decide how everybody's tables are read, so an
API key needs the scope `admin`, which no key has unless it is asked for.
"""

from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Final

from django.shortcuts import resolve_url

from apps.pages.actions import Stamp
from apps.pages.changes.change import ADMIN, Call, Change, Nothing, Subject, Verb
from apps.pages.changes.parameters import parameter
from apps.pages.changes.read import Read, reads
from apps.pages.page_json import OnPage, Spread
from apps.tables.models import StorageConnection
from apps.tables.storage.connections import (
    StorageResource,
    add_connection,
    find_connection,
    remove_connection,
    report_storage,
    reseal_connections,
    storage_resource,
    tables_of,
)
from apps.tables.storage.errors import StorageNotFoundError, StorageReferenceError
from apps.tables.storage.options import parse_options, sent_options
from apps.tables.storage.received import is_received
from apps.tables.storage.trying import try_again, try_connection
from deltaweb.storage.location import RECEIVED
from deltaweb.storage.objects.trial import Trial

ROUTE: Final = "storages/<str:name>"


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedTrial:
    """How a storage is tested.

    Attributes:
        write: Whether to test writing: a file is made and deleted.
    """

    write: bool = parameter(
        default=False,
        option="--write",
        action="store_true",
        help="test writing as well",
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NewStorage(WantedTrial):
    """An object store, and how it is reached. It is not printed: it has secrets.

    Attributes:
        name: The name of the storage connection.
        prefix: The prefix of locations that are read through it, such as s3://bucket/.
        options: The options of the driver (s3fs, gcsfs, adlfs); a dot leads into a
            mapping, such as client_kwargs.endpoint_url. Only a command can name
            variables and files of the server.
        replace: Whether to replace a connection with the same name.
        write: Whether to test writing as well.
        untried: Whether to store it without testing the connection.
    """

    name: str = parameter(MISSING)
    prefix: str = parameter(
        MISSING,
        "--prefix",
        required=True,
        metavar="URL",
        help="prefix of locations, such as s3://bucket/",
    )
    options: dict[str, str] = parameter(
        dict,
        "--option",
        is_stated=True,
        reads=lambda texts: parse_options(texts, base=Path.cwd()),
        action="append",
        metavar="KEY=VALUE",
        help="an option of the driver (s3fs, gcsfs, adlfs); a dot leads into a"
        " mapping (client_kwargs.endpoint_url=...); env:VARIABLE and file:PATH"
        " are read at each use and keep the value out of the process list",
    )
    replace: bool = parameter(
        default=False,
        option="--replace",
        action="store_true",
        help="replace the options of an existing storage",
    )
    untried: bool = parameter(
        default=False,
        option="--untried",
        action="store_true",
        help="save it without testing the connection",
    )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NewStorageAtTerminal(NewStorage):
    """The same from a command, whose options may name variables and files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedStorage:
    """A storage, and what a test of it could do.

    Attributes:
        tried: The result of the test; null if it was not requested, or the prefix has
            no bucket.
        warning: Why it could not be tested.
    """

    resource: Spread[StorageResource]
    tried: Trial | None
    warning: OnPage[str] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Storages:
    """The storages."""

    storages: list[StorageResource]


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedStorage:
    """A storage that was removed."""

    resource: Spread[StorageResource]
    removed: bool = True


def find_storage(name: str) -> StorageConnection:
    """Return a storage; a provider of received shares is none."""
    found = find_connection(name)
    if is_received(found.prefix):
        raise StorageNotFoundError(name=name)
    return found


def all_storages() -> Storages:
    """Return all storages, without providers of received shares."""
    found = StorageConnection.objects.exclude(prefix__startswith=RECEIVED)
    return Storages(storages=[storage_resource(one) for one in found])


def add(_: None, new: NewStorage, stamp: Stamp) -> TriedStorage:
    """Test a storage, and keep its options encrypted."""
    is_trusted = isinstance(new, NewStorageAtTerminal)
    options = new.options if is_trusted else sent_options(new.options)
    tried, warning = None, ""
    try:
        tried = try_connection(
            new.prefix,
            options,
            name=new.name,
            is_asked=not new.untried,
            is_written=new.write,
        )
    except StorageReferenceError as error:  # other processes may have what it names
        warning = str(error)
    kept = add_connection(
        name=new.name,
        prefix=new.prefix,
        options=options,
        replace=new.replace,
        stamp=stamp,
    )
    return TriedStorage(resource=storage_resource(kept), tried=tried, warning=warning)


def test_storage(
    connection: StorageConnection, asked: WantedTrial, stamp: Stamp
) -> TriedStorage:
    """Test a storage that is kept."""
    tried = try_again(connection, is_written=asked.write)
    report_storage("storage.test", connection, stamp=stamp)
    return TriedStorage(resource=storage_resource(connection), tried=tried)


def remove(connection: StorageConnection, _: Nothing, stamp: Stamp) -> RemovedStorage:
    """Forget how a store is reached; its tables stay registered."""
    removed = RemovedStorage(resource=storage_resource(connection))
    remove_connection(connection, stamp=stamp)
    return removed


def reseal(_: None, __: Nothing, stamp: Stamp) -> Storages:
    """Encrypt all options again with the current secret key."""
    sealed = reseal_connections(stamp=stamp)
    return Storages(storages=[storage_resource(one) for one in sealed])


def _said_added(one: TriedStorage) -> str:
    kept = one.resource
    names = ", ".join(kept.options) or "no options"
    text = f"{kept.prefix} is reached by the storage {kept.name} ({names})."
    return f"{text} {_said_tried(one)}"


def _said_tried(one: TriedStorage) -> str:
    tried = one.tried
    if tried is None:
        return "It was not tested."
    done = ["listed", *["read"] * bool(tried.was_read)]
    done += ["written"] * bool(tried.was_written)
    return f"It can be {' and '.join(done)}."


def _said_resealed(one: Storages) -> str:
    count = len(one.storages)
    sealed = "storage is" if count == 1 else "storages are"
    return f"{count} {sealed} sealed with the current secret key."


def _before_removal(connection: StorageConnection, _: Nothing) -> str:
    count = len(tables_of(connection))
    read = "table is" if count == 1 else "tables are"
    return f"Remove {connection.name}? {count} {read} read through it."


ALL: Final = Subject(noun="storage", role=ADMIN, scope="admin", find=lambda: None)
STORAGE: Final = Subject(noun="storage", role=ADMIN, scope="admin", find=find_storage)
ADD: Final = Change(
    of=ALL,
    name="add",
    help="Add an object store with its options.",
    more="The connection is tested first. The options are kept encrypted.",
    parameters=NewStorage,
    do=add,
    is_atomic=False,
    result=TriedStorage,
    says=_said_added,
    record=("storage.add", "storage.replace"),
    verb=Verb(
        at_terminal=NewStorageAtTerminal,
        warns=lambda _, one: [one.warning] if one.warning else [],
    ),
    call=Call(
        "POST",
        "storages",
        view="StorageList",
        location=lambda one: resolve_url("api:storage", one.resource.name),
    ),
)
TEST: Final = Change(
    of=STORAGE,
    name="test",
    help="Test a storage: list, read and, if requested, write.",
    parameters=WantedTrial,
    do=test_storage,
    is_atomic=False,
    result=TriedStorage,
    says=_said_tried,
    record=("storage.test",),
    verb=Verb(),
    call=Call("POST", f"{ROUTE}/try", view="StorageTrial", status=200),
)
REMOVE: Final = Change(
    of=STORAGE,
    name="remove",
    help="Remove a storage; its tables stay registered.",
    parameters=Nothing,
    do=remove,
    result=RemovedStorage,
    says=lambda one: f"Removed {one.resource.name}; no table was removed.",
    record=("storage.remove",),
    verb=Verb(question=_before_removal),
    call=Call("DELETE", ROUTE, view="Storage"),
)
RESEAL: Final = Change(
    of=ALL,
    name="reseal",
    help="Encrypt all options again with the current secret key.",
    more="The profiles of providers of received shares are encrypted with it, too.",
    parameters=Nothing,
    do=reseal,
    result=Storages,
    says=_said_resealed,
    record=("storage.reseal",),
    verb=Verb(),
    call=Call("POST", "reseal", view="Resealing", status=200),
)
reads.register(
    Read(
        route="storages",
        view="StorageList",
        finds=all_storages,
        shows=Storages,
        help="List storages, without the values of their options.",
        role=ADMIN,
    ),
    Read(
        route=ROUTE,
        view="Storage",
        finds=lambda name: storage_resource(find_storage(name)),
        shows=StorageResource,
        help="Return a storage, without the values of its options.",
        role=ADMIN,
    ),
)
