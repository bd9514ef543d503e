"""The files of a table that somebody else shares with us: read, never written.

Its log is a mirror of what the provider tells, brought up to date when it is listed;
its data files are read by the URLs that the provider signs.
"""

import hashlib
import shutil
import tempfile
import time
import weakref
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NoReturn, Self
from urllib.parse import quote, unquote

import pyarrow as pa

from deltaweb.delta.errors import (
    CredentialsNeededError,
    DataFileMissingError,
    DeltaError,
)
from deltaweb.delta.log.store import FileStatus
from deltaweb.storage.local import LocalTableStore
from deltaweb.storage.objects.hosts import ANY_PUBLIC
from deltaweb.storage.received.budget import LookBounds
from deltaweb.storage.received.client import SharingClient
from deltaweb.storage.received.columns import SignedURL, SignedURLs
from deltaweb.storage.received.errors import ProviderRestsError, ReceivedTableError
from deltaweb.storage.received.files import ASK_PROVIDER, RangedFile
from deltaweb.storage.received.mirror import Mirror
from deltaweb.storage.received.profile import (
    Profile,
    SharedName,
    location_of,
    read_profile,
    split_location,
)
from deltaweb.storage.received.transport import Transport

FRESH_S: Final = 2.0  # for which one look at the provider holds
FAILED_S: Final = 15.0  # for which one that failed holds
SPARE_MS: Final = 60_000  # a URL that ends sooner is not begun with
MOST_URLS: Final = 500_000
MOST_FOLDER_BYTES: Final = 255  # of the name of a folder


class ReceivedTableStore(LocalTableStore):
    """The files of one received table.

    Args:
        location: From `location_of`.
        options: Those of `Profile.fields`, `allowed_hosts` as
            `deltaweb.storage.objects.hosts` takes them, `look_bounds`: the fields of
            `LookBounds`, `rests_until`: before that the provider is not asked, and
            `mirror`: the folder in which logs of this provider are kept.
    """

    def __init__(self, location: str, options: Mapping[str, Any]) -> None:
        provider, table = split_location(location)
        if "endpoint" not in options:
            raise CredentialsNeededError(location=location)
        folder = Path(options["mirror"], *map(_folder_name, table.parts))
        super().__init__(str(folder))
        self._location = location
        self._transport = Transport(tuple(options.get("allowed_hosts") or ()))
        self._folder, self._table, self._provider = folder, table, provider
        self._client = SharingClient(
            Profile.of_texts(options),
            self._transport,
            provider,
            LookBounds(**options.get("look_bounds", {})),
        )
        self._rests_until: datetime | None = options.get("rests_until")
        self._urls = SignedURLs()
        self._looked_s = float("-inf")
        self._failure: DeltaError | None = None

    @classmethod
    def of_profile(cls, path: Path, table: SharedName) -> Self:
        """Return the store of a table of a profile file; its log is kept nowhere.

        Whoever has the file trusts the server that it names; every other host has to be
        a public one.
        """
        profile = read_profile(path)
        folder = tempfile.mkdtemp(prefix="deltaweb-received-")
        options = {
            **profile.fields(),
            "allowed_hosts": (profile.host, ANY_PUBLIC),
            "mirror": folder,
        }
        provider = quote(path.stem, safe="") or "provider"
        store = cls(location_of(provider, table), options)
        weakref.finalize(store, shutil.rmtree, folder, ignore_errors=True)
        return store

    @property
    def root(self) -> str:
        return self._location

    def root_exists(self) -> bool:
        """Tell that it is there: a provider that does not share it is an error."""
        self._look()
        return True

    # === The log ===

    def list_names_from(self, name: str) -> list[str]:
        """Return the names of the log's files, after a look at the provider."""
        self._look()
        return super().list_names_from(name)

    def list_from(self, name: str) -> list[FileStatus]:
        """Return the log's files, after a look at the provider."""
        self._look()
        return super().list_from(name)

    def status(self, name: str) -> FileStatus:
        """Return size and time of one file, after a look at the provider."""
        self._look()
        return super().status(name)

    def _look(self) -> None:
        looked_before_s = time.monotonic() - self._looked_s
        if self._failure is not None and looked_before_s < FAILED_S:
            raise self._failure
        if looked_before_s < FRESH_S:
            return
        self._failure = None
        try:
            self._keep(self._begin_look().refresh(now_ms=time.time_ns() // 1_000_000))
        except DeltaError as error:
            self._failure = error.with_traceback(None)
            raise
        finally:
            self._looked_s = time.monotonic()

    def _begin_look(self) -> Mirror:
        until = self._rests_until
        if until is not None and datetime.now(UTC) < until:
            raise ProviderRestsError(provider=self._provider, until=until)
        self._client = self._client.begin_look()
        return Mirror(
            self._folder,
            root=self._location,
            client=self._client,
            table=self._table,
            provider=self._provider,
        )

    # === Data files ===

    def open_data_file(self, path: str) -> pa.NativeFile:
        name = unquote(path.removeprefix(f"{self._location}/"))
        signed = self._urls.get(name)
        if signed is None or _ends_soon(signed):
            signed = self._renewed(name)
        file = RangedFile(
            path,
            signed,
            renew=lambda: self._renewed(name),
            transport=self._transport,
            budget=self._client.file_budget,
        )
        return pa.PythonFile(file, mode="r")

    def has_data_file(self, path: str) -> bool:
        try:
            self._renewed(unquote(path.removeprefix(f"{self._location}/")))
        except DataFileMissingError:
            return False
        return True

    def _renewed(self, name: str) -> SignedURL:
        self._keep(self._begin_look().urls(name))
        if name not in self._urls:
            raise DataFileMissingError(
                path=name,
                reason="its provider no longer shares its version",
                hint=ASK_PROVIDER,
            )
        return self._urls[name]

    def _keep(self, urls: SignedURLs) -> None:
        if not urls:
            return
        kept = SignedURLs() if len(self._urls) > MOST_URLS else self._urls
        self._urls = kept | urls

    # === What is not offered ===

    def table_above(self) -> str | None:
        """Return None: it lies in no folder of ours."""
        return None

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:  # noqa: ANN401 (in place of any)
        raise ReceivedTableError(root=self._location)

    # A provider does not tell which files lie there, and the table is its own.
    list_data_files = list_data_statuses = _refuse
    put_if_absent = repeated_put = put = begin_file = update = delete = _refuse
    remove_leftovers = put_data_file = delete_data_file = _refuse
    delete_data_files = begin_data_file = _refuse


def _folder_name(name: str) -> str:
    """Return the name of the folder of a share, schema or table.

    A name of 255 letters is longer than that of a folder may be once it is quoted; its
    digest takes its place, behind a `+`, which no quoted name has.
    """
    quoted = quote(name, safe="")
    if len(quoted) <= MOST_FOLDER_BYTES:
        return quoted
    return f"+{hashlib.sha256(name.encode()).hexdigest()}"


def _ends_soon(signed: SignedURL) -> bool:
    ends_ms = signed.expires_ms
    return ends_ms is not None and ends_ms < time.time_ns() // 1_000_000 + SPARE_MS
