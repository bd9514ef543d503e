"""A store on Google."""

import pytest

from deltaweb.delta.errors import LocationInvalidError
from deltaweb.delta.log.store import TableStore
from deltaweb.delta.writing.commit import commit
from deltaweb.storage.place import open_store
from tests.storage.table_stores.every_store import TableStorePromises
from tests.support.stores.google_server import GoogleServer
from tests.support.tables.written_tables import (
    AT_ONCE,
    added,
    create,
    live_paths,
    on_newest,
)


# What the driver does with a file of some megabytes.
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
class TestGoogleTableStore(TableStorePromises):
    @pytest.fixture
    def store(self, google: GoogleServer) -> TableStore:
        return open_store(f"gs://{google.new_bucket()}/a b/ü=1", google.options)

    def test_the_log_is_listed_over_many_pages(self, store, google, monkeypatch):
        monkeypatch.setattr(google, "names_a_page", 10)
        names = [f"{number:020}.json" for number in range(35)]
        for name in names:
            store.put(name, b"")

        assert store.list_names_from("") == names
        assert store.list_names_from(names[17]) == names[17:]

    def test_a_commit_whose_answer_was_lost_is_there_once(self, store, google):
        create(store)
        append = on_newest(store, added=added(("a", "a", 1, 2)))
        google.lost_answers = 1

        result = commit(store, append, policy=AT_ONCE)

        assert (result.version, google.lost_answers) == (1, 0)
        assert live_paths(store) == ["a"]

    def test_credentials_that_are_none_are_a_sentence(self) -> None:
        options = {"token": {"type": "service_account", "private_key": "hunter2"}}

        with pytest.raises(LocationInvalidError, match="options do not fit") as caught:
            open_store("gs://bucket/t", options)
        assert "hunter2" not in str(caught.value)
