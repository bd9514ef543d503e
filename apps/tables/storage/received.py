"""How tables are read that somebody else shares with us: by a connection of its own.

The profile of a provider is kept as the options of a storage connection whose prefix is
`received://` and the name that we gave the provider.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from django.conf import settings

from deltaweb.storage import objects, received
from deltaweb.storage.location import RECEIVED
from deltaweb.web.tables import storage
from deltaweb.web.tables.models import StorageConnection

if TYPE_CHECKING:  # Commands that read a folder of this machine load no driver.
    from deltaweb.storage.objects.scan import FoundTables
    from deltaweb.storage.received.budget import LookBounds

FOLDER: Final = "received"


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
    }


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
    shared = client.tables()
    return objects.scan.FoundTables(
        root=root,
        tables=[
            tuple(quote(part, safe="") for part in one.parts) for one in shared.tables
        ],
        num_folders=len({one.parts[:2] for one in shared.tables}),
        truncated=shared.is_truncated,
    )
