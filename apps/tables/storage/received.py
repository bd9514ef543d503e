"""How tables are read that somebody else shares with us: by a connection of its own.

The profile of a provider is kept as the options of a storage connection whose prefix is
`received://` and the name that we gave the provider.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from apps.tables import storage
from apps.tables.models import StorageConnection
from apps.tables.models.schedules import next_look
from deltaweb.delta.errors import DeltaError, LocationUnreachableError
from deltaweb.storage import objects, received
from deltaweb.storage.location import RECEIVED
from deltaweb.storage.received.errors import ProviderRestsError

if TYPE_CHECKING:  # Commands that read a folder of this machine load no driver.
    from deltaweb.storage.objects.scan import FoundTables
    from deltaweb.storage.received.budget import LookBounds

FOLDER: Final = "received"
WAITS_S: Final = 30.0
"""What a provider may take while a person waits, with all looks and files."""
IS_RECEIVED: Final = "received"
"""The parameter of a job whose table is a provider's."""
PROVIDER_FAULTS: Final = frozenset(
    {
        "job-memory",
        LocationUnreachableError.code,
        "provider-answer",
        "provider-host-not-allowed",
        "provider-limit",
        "provider-refused",
    }
)
"""Codes of what will be wrong with all tables of a provider."""


def provider_name(location: str) -> str:
    """Return the name of the provider that shares a table; "" for any other."""
    name = location.removeprefix(RECEIVED).partition("/")[0]
    return name if is_received(location) else ""


def is_received(location: str) -> bool:
    """Whether a location is of a table, or of all tables, of a provider."""
    return location.startswith(RECEIVED)


def profile_fields(connection: StorageConnection) -> dict[str, str]:
    """Return the profile of a provider, unsealed; never to be shown or logged."""
    return storage.sealing.unseal(connection.sealed, storage=connection.name)


def received_options(connection: StorageConnection) -> dict[str, Any]:
    """Return what the store of a received table is opened with.

    What a profile says is taken as it is: unlike an option that an administrator types,
    it names no variable and no file of the server.
    """
    return {
        **profile_fields(connection),
        "allowed_hosts": tuple(settings.STORAGE_HOSTS),
        "look_bounds": asdict(look_bounds()),
        "mirror": str(mirror_folder(connection)),
        "rests_until": connection.rests_until,
    }


def waiting(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of a store for whose rows a person waits."""
    if "look_bounds" not in options:
        return options
    waits_s = min(WAITS_S, settings.RECEIVED_CHECK_S)
    return {**options, "look_bounds": {**options["look_bounds"], "waits_s": waits_s}}


def look_bounds() -> "LookBounds":
    """Return what one look at a provider may take, as the settings say."""
    return received.budget.LookBounds(
        seconds=settings.RECEIVED_CHECK_S,
        num_bytes=settings.RECEIVED_CHECK_BYTES,
        num_pages=settings.RECEIVED_CHECK_PAGES,
        num_lines=settings.RECEIVED_CHECK_LINES,
    )


def mirror_folder(connection: StorageConnection) -> Path:
    """Return where the logs are kept of what a provider tells."""
    return Path(settings.HOME) / FOLDER / str(connection.pk)


def find_shared(root: str, connection: StorageConnection) -> "FoundTables":
    """Find the tables that a provider shares, as a scan finds those of a folder."""
    profile = received.profile.Profile.of_texts(profile_fields(connection))
    transport = received.transport.Transport(tuple(settings.STORAGE_HOSTS))
    bounds = look_bounds()
    client = received.client.SharingClient(profile, transport, connection.name, bounds)
    with asking(root):
        shared = client.tables()
    return objects.scan.FoundTables(
        root=root,
        tables=[
            tuple(quote(part, safe="") for part in one.parts) for one in shared.tables
        ],
        num_folders=len({one.parts[:2] for one in shared.tables}),
        truncated=shared.is_truncated,
    )


# === Rests ===


def provider_of(location: str) -> str:
    """Return the prefix of the connection of a received table."""
    return RECEIVED + location.removeprefix(RECEIVED).partition("/")[0]


def rests_until(location: str, *, now: datetime) -> datetime | None:
    """Return until when a provider is left alone; None where it may be asked."""
    resting = StorageConnection.objects.filter(
        prefix=provider_of(location), rests_until__gt=now
    )
    return resting.values_list("rests_until", flat=True).first()


def check_awake(location: str, *, now: datetime) -> None:
    """Refuse to ask a provider that rests."""
    until = rests_until(location, now=now)
    if until is not None:
        name = provider_of(location).removeprefix(RECEIVED)
        raise ProviderRestsError(provider=name, until=until)


@dataclass(slots=True)
class Asked:
    """What came of asking a provider.

    Attributes:
        code: Of an error that was no exception; "" for none.
    """

    code: str = ""


@contextmanager
def asking(location: str) -> Iterator[Asked]:
    """Ask a provider within the block; one that fails rests, each time longer."""
    asked = Asked()
    try:
        yield asked
    except DeltaError as error:
        note_end(location, error.code)
        raise
    note_end(location, asked.code)


def note_end(location: str, code: str) -> None:
    """Note what came of asking a provider, by the code of an error, "" for none.

    A fault of one table says that its provider answers.
    """
    known = StorageConnection.objects.filter(prefix=provider_of(location))
    if code == ProviderRestsError.code:
        return
    if code not in PROVIDER_FAULTS:
        known.exclude(failures=0).update(failures=0, rests_until=None)
        return
    for provider in known:
        until = next_look(None, now=timezone.now(), failures=provider.failures)
        known.update(failures=F("failures") + 1, rests_until=until)
