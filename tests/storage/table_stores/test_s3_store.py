"""A store on S3."""

import pytest

from deltaweb.delta.errors import LocationUnreachableError
from deltaweb.delta.log.store import TableStore
from deltaweb.storage.place import open_store
from tests.storage.table_stores.every_store import TableStorePromises
from tests.storage.table_stores.log_promises import LogPromises
from tests.support.stores.s3_server import S3Server


class TestSeaweedTableStore(LogPromises):
    """By a server as large lakes have one, which creates once by itself."""

    @pytest.fixture
    def store(self, seaweed: S3Server) -> TableStore:
        return open_store(f"s3://{seaweed.new_bucket()}/a b/ü=1", seaweed.options)


class TestS3TableStore(TableStorePromises):
    @pytest.fixture
    def store(self, s3: S3Server) -> TableStore:
        return open_store(f"s3://{s3.new_bucket()}/a b/ü=1", s3.options)

    def test_the_log_is_listed_over_many_pages(self, store, monkeypatch):
        monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
        names = [f"{number:020}.json" for number in range(35)]
        for name in names:
            store.put(name, b"")

        assert store.list_names_from("") == names
        assert store.list_names_from(names[17]) == names[17:]

    def test_a_table_above_is_told(self, store: TableStore, s3: S3Server) -> None:
        inner = open_store(f"{store.root}/b/c", s3.options)
        assert inner.table_above() is None

        store.put(f"{0:020}.json", b"")

        assert inner.table_above() == store.root
        assert store.table_above() is None

    def test_a_bucket_that_is_not_there_holds_nothing(self, s3: S3Server) -> None:
        store = open_store("s3://no-such-bucket/t", s3.options)

        assert store.list_names_from("") == []
        assert not store.root_exists()

    def test_a_server_that_does_not_answer_is_a_sentence(self) -> None:
        options = {
            "key": "k",
            "secret": "hunter2",
            "endpoint_url": "http://127.0.0.1:1",
            "config_kwargs": {"retries": {"max_attempts": 0}},
        }

        with pytest.raises(LocationUnreachableError) as caught:
            open_store("s3://bucket/t", options).list_names_from("")
        assert "hunter2" not in str(caught.value)

    def test_the_other_spelling_of_the_scheme_is_the_same_storage(self, store, s3):
        store.put("a", b"1")
        other = open_store(store.root.replace("s3://", "s3a://"), s3.options)

        assert other.read("a") == b"1"
