"""The Parquet files that a person names on the command line, and their values."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import OperationalError, ProgrammingError

from apps.pages.first_use import has_database
from apps.tables.storage.connections import options_for
from apps.tables.storage.locations import is_remote, parse_location
from deltaweb.delta.errors import (
    DataFileError,
    DataFileMissingError,
    LocationDeniedError,
    LocationNotFoundError,
    LocationUnreachableError,
)
from deltaweb.delta.log.store import TableStore
from deltaweb.parquet.errors import ParquetError
from deltaweb.parquet.tail import RangeSource
from deltaweb.storage.place import open_store

SUFFIXES = (".parquet", ".parq")


@contextmanager
def open_file(text: str) -> Iterator[Path | RangeSource]:
    """Open a file by its path or URL; what is wrong with it is said with its name."""
    location = parse_location(text, base=Path.cwd())
    with _named(location):
        if not is_remote(location):
            yield Path(location)
            return
        folder, _, name = location.rpartition("/")
        with open_listed(open_folder(folder), name) as source:
            yield source


def open_folder(location: str) -> TableStore:
    """Return the store of the files below a folder or a URL.

    Without a database no storage has options.
    """
    try:
        options = options_for(location) if has_database() else {}
    except (OperationalError, ProgrammingError):
        options = {}
    return open_store(location, options)


@contextmanager
def open_listed(store: TableStore, name: str) -> Iterator[RangeSource]:
    """Open a file by its place below the root of a store."""
    place = f"{store.root}/{name}"
    with _named(place):
        try:
            file = store.open_data_file(quote(name))
        except DataFileMissingError:
            raise LocationNotFoundError(location=place) from None
        with file:
            yield file


def parquet_files(store: TableStore) -> list[str]:
    """Return the places of the Parquet files below a store's root, in order.

    As Spark does, it skips what begins with a dot or an underscore.
    """
    return sorted(
        place
        for places in store.list_data_files()
        for place in places.to_pylist()
        if place.lower().endswith(SUFFIXES)
        and not any(part[:1] in {".", "_"} for part in place.split("/"))
    )


def cell(value: Any) -> str:  # noqa: ANN401 (JSON)
    """Return a value of a file as text: what is no number or text as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and list(value) == ["hex"]:
        return f"0x{value['hex']}"
    return json.dumps(value, ensure_ascii=False)


@contextmanager
def _named(place: str) -> Iterator[None]:
    try:
        yield
    except ParquetError as error:
        if not error.message.startswith(place):
            error.message = f"{place}: {error.message}"
        raise
    except FileNotFoundError:
        raise LocationNotFoundError(location=place) from None
    except PermissionError:
        raise LocationDeniedError(location=place) from None
    except DataFileError:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise LocationUnreachableError(location=place, reason=reason) from None
