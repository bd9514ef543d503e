"""Drivers of object stores, each with what a benchmark of commits asks of them.

`FsspecDriver` is what the product uses; `ObstoreDriver` is compared with it.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import fsspec
import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import S3Store

from deltaweb.storage.objects.creation import create_file
from deltaweb.storage.objects.listing import list_folder


class FsspecDriver:
    """s3fs, gcsfs or adlfs, as the store of a table uses them."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self._url = url
        self._fs = fsspec.filesystem(url.partition("://")[0], **options)

    def create(self, key: str, data: bytes) -> None:
        """Make an object; FileExistsError where there is one."""
        create_file(self._fs, f"{self._url}/{key}", data)

    def list_from(self, folder: str, name: str) -> list[str]:
        """Return the names of a folder from one on, in order."""
        self._fs.invalidate_cache()
        found = list_folder(self._fs, f"{self._url}/{folder}", name)
        return [status.name for status in found]


class ObstoreDriver:
    """`obstore`, by its own functions: its face for fsspec overwrites."""

    def __init__(self, store: Any) -> None:  # noqa: ANN401 (one of its stores)
        self.store = store

    def create(self, key: str, data: bytes) -> None:
        """Make an object; FileExistsError where there is one."""
        try:
            obstore.put(self.store, key, data, mode="create")
        except AlreadyExistsError as error:
            raise FileExistsError(key) from error

    def read(self, key: str) -> bytes:
        """Return an object."""
        return bytes(obstore.get(self.store, key).bytes())

    def list_from(self, folder: str, name: str) -> list[str]:
        """Return the names of a folder from one on, in order."""
        # What is given is left out, so it is a name that sorts just before.
        before = f"{folder}/{name[:-1]}{chr(ord(name[-1]) - 1)}~" if name else None
        pages = obstore.list(self.store, f"{folder}/", offset=before)
        found = [entry["path"] for page in pages for entry in page]
        return sorted(path.removeprefix(f"{folder}/") for path in found)


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
            client_options={"timeout": "10s", "allow_http": True},
            retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=10)},
        )
    )
