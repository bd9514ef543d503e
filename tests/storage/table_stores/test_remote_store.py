"""A store behind a URL, whatever its scheme."""

import itertools
import sys
from pathlib import Path

import pytest
from fsspec.registry import _registry

from deltaweb.delta.errors import (
    DataFileMissingError,
    LocationUnsupportedError,
    PathEscapesTableError,
)
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.errors import StoreNotWritableError
from deltaweb.storage.place import open_store
from deltaweb.storage.remote import RemoteTableStore
from tests.storage.table_stores.every_store import TableStorePromises

_numbers = itertools.count()


class TestRemoteTableStore(TableStorePromises):
    @pytest.fixture
    def store(self) -> TableStore:
        return open_store(f"memory://storage-test/{next(_numbers)}")

    def test_is_the_store_of_a_url(self, store: TableStore) -> None:
        assert isinstance(store, RemoteTableStore)
        assert store.root.startswith("memory://storage-test/")

    def test_an_absolute_path_is_read_below_an_allowed_root(self) -> None:
        other = open_store("memory://storage-other/t")
        other.put_data_file("a", b"data")
        path = "memory://storage-other/t/a"
        strict = open_store("memory://storage-test/strict")
        allowed = ["memory://storage-other"]
        lenient = open_store("memory://storage-test/x", allowed_roots=allowed)

        with pytest.raises(PathEscapesTableError):
            strict.open_data_file(path)
        with lenient.open_data_file(path) as file:
            assert file.read() == b"data"

    def test_a_scheme_without_atomic_create_is_not_written(self, tmp_path: Path):
        store = RemoteTableStore(f"local://{tmp_path}", {})

        with pytest.raises(StoreNotWritableError, match="only where none is"):
            store.put_if_absent("a", b"")

    @pytest.mark.parametrize("url", ["gs://bucket/t", "gcs://bucket/t"])
    def test_a_missing_driver_is_named(self, url: str, monkeypatch: pytest.MonkeyPatch):
        scheme = url.partition("://")[0]
        monkeypatch.setitem(sys.modules, "gcsfs", None)
        monkeypatch.delitem(_registry, scheme, raising=False)  # if it was loaded

        with pytest.raises(LocationUnsupportedError, match="Install the package"):
            open_store(url)

    def test_an_unknown_scheme_is_refused(self) -> None:
        with pytest.raises(LocationUnsupportedError, match="nowhere://"):
            open_store("nowhere://bucket/t")

    def test_a_secret_stays_out_of_errors(self) -> None:
        url = "memory://user:hunter2@host/t?token=hunter2"

        store = open_store(url, {"key": "hunter2"})

        assert "hunter2" not in store.root
        with pytest.raises(DataFileMissingError) as caught:
            store.open_data_file("a")
        assert "hunter2" not in str(caught.value)
