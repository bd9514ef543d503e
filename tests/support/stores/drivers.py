"""The drivers of object stores, each with the five things that a log needs of it.

`FsspecDriver` is what the product uses; `ObstoreDriver` is compared with it.
"""

import contextlib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Protocol
from urllib.parse import quote

import fsspec
import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import AzureStore, S3Store

from deltaweb.storage.objects.creation import create_file
from deltaweb.storage.objects.listing import list_folder
from deltaweb.storage.place import open_store


class Driver(Protocol):
    """One bucket, by one driver."""

    def create(self, key: str, data: bytes) -> None:
        """Make an object; FileExistsError where there is one."""

    def read(self, key: str) -> bytes:
        """Return an object; FileNotFoundError where there is none."""

    def read_head(self, key: str, length: int) -> bytes:
        """Return the beginning of an object, which may be empty."""

    def list_from(self, folder: str, name: str) -> list[str]:
        """Return the names of a folder from one on, in order."""

    def delete_many(self, folder: str, names: Sequence[str]) -> None:
        """Delete objects; one that is not there is passed over."""


class FsspecDriver:
    """s3fs, gcsfs or adlfs, as the store of a table uses them."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self._url, self._options = url, options
        self._fs = fsspec.filesystem(url.partition("://")[0], **options)

    def create(self, key: str, data: bytes) -> None:
        create_file(self._fs, f"{self._url}/{key}", data)

    def read(self, key: str) -> bytes:
        return bytes(self._fs.cat_file(f"{self._url}/{key}"))

    def read_head(self, key: str, length: int) -> bytes:
        folder, _, name = key.rpartition("/_delta_log/")
        return open_store(f"{self._url}/{folder}", self._options).read_head(
            name, length
        )

    def list_from(self, folder: str, name: str) -> list[str]:
        self._fs.invalidate_cache()
        found = list_folder(self._fs, f"{self._url}/{folder}", name)
        return [status.name for status in found]

    def delete_many(self, folder: str, names: Sequence[str]) -> None:
        paths = [quote(name) for name in names]
        open_store(f"{self._url}/{folder}", self._options).delete_data_files(paths)


class ObstoreDriver:
    """`obstore`, by its own functions: its face for fsspec overwrites."""

    def __init__(self, store: Any) -> None:  # noqa: ANN401 (one of its stores)
        self.store = store

    def create(self, key: str, data: bytes) -> None:
        try:
            obstore.put(self.store, key, data, mode="create")
        except AlreadyExistsError as error:
            raise FileExistsError(key) from error

    def read(self, key: str) -> bytes:
        return bytes(obstore.get(self.store, key).bytes())

    def read_head(self, key: str, length: int) -> bytes:
        # A range of an empty object is an error here, too.
        size = obstore.head(self.store, key)["size"]
        end = min(length, size)
        if not end:
            return b""
        return bytes(obstore.get_range(self.store, key, start=0, end=end))

    def list_from(self, folder: str, name: str) -> list[str]:
        # What is given is left out, so it is a name that sorts just before.
        before = f"{folder}/{name[:-1]}{chr(ord(name[-1]) - 1)}~" if name else None
        pages = obstore.list(self.store, f"{folder}/", offset=before)
        found = [entry["path"] for page in pages for entry in page]
        return sorted(path.removeprefix(f"{folder}/") for path in found)

    def delete_many(self, folder: str, names: Sequence[str]) -> None:
        with contextlib.suppress(FileNotFoundError):
            obstore.delete(self.store, [f"{folder}/{name}" for name in names])


QUICKLY: Mapping[str, Any] = {
    "client_options": {"timeout": "10s", "allow_http": True},
    "retry_config": {"max_retries": 2, "retry_timeout": timedelta(seconds=10)},
}


def s3_by_obstore(bucket: str, options: Mapping[str, Any]) -> ObstoreDriver:
    """Open a bucket of S3 by the options that s3fs takes."""
    inner = options["client_kwargs"]
    return ObstoreDriver(
        S3Store(
            bucket,
            access_key_id=options["key"],
            secret_access_key=options["secret"],
            endpoint=inner["endpoint_url"],
            region=inner["region_name"],
            **QUICKLY,
        )
    )


def azure_by_obstore(container: str, *, account: str, key: str, url: str) -> Driver:
    """Open a container of Azure."""
    return ObstoreDriver(
        AzureStore(
            container, account_name=account, account_key=key, endpoint=url, **QUICKLY
        )
    )
