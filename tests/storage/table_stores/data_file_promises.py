"""What every store promises of data files, and of paths to them."""

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DataFileMissingError, PathEscapesTableError
from deltaweb.delta.log.store import TableStore


class DataFilePromises:
    """A data file is found by the path that the log has for it."""

    def test_a_path_is_decoded_once(self, store: TableStore) -> None:
        store.put_data_file("p=%2520/a%20b+c.parquet", b"data")

        assert store.has_data_file("p=%2520/a b+c.parquet")
        assert not store.has_data_file("p=%20/a b+c.parquet")
        with store.open_data_file("p=%2520/a%20b%2Bc.parquet") as file:
            assert file.read() == b"data"

    def test_a_data_file_is_never_overwritten(self, store: TableStore) -> None:
        store.put_data_file("a", b"first")

        with pytest.raises(FileExistsError):
            store.put_data_file("a", b"second")

    def test_a_missing_data_file_is_named(self, store: TableStore) -> None:
        with pytest.raises(DataFileMissingError, match="gone%20file"):
            store.open_data_file("gone%20file")

    def test_deletes_many_data_files_and_passes_over_those_that_are_gone(
        self, store: TableStore
    ) -> None:
        paths = ["p=1/a%20b", "c%2525", "*", "stays"]
        for path in paths:
            store.put_data_file(path, b"data")

        store.delete_data_files([*paths[:3], "gone"])

        found = [place for batch in store.list_data_files() for place in batch]
        assert [str(place) for place in found if str(place)[0] != "_"] == ["stays"]
        with pytest.raises(PathEscapesTableError):
            store.delete_data_files(["stays", "../outside"])
        store.delete_data_files([])

    def test_a_deleted_data_file_is_gone(self, store: TableStore) -> None:
        store.put_data_file("p=1/a%20b", b"data")
        store.put_data_file("p=1/c", b"data")

        store.delete_data_file("p=1/a%20b")

        assert not store.has_data_file("p=1/a%20b")
        assert store.has_data_file("p=1/c")

    def test_data_files_are_listed_with_their_sizes(self, store: TableStore) -> None:
        assert sum(batch.num_rows for batch in store.list_data_statuses()) == 0
        store.put_data_file("p=%2520/a%20b", b"data")
        store.put_data_file("c", b"")
        store.put("a.json", b"log")

        listed = pa.Table.from_batches(store.list_data_statuses()).to_pylist()

        assert {file["place"]: file["size"] for file in listed} == {
            "p=%20/a b": 4,
            "c": 0,
        }

    @pytest.mark.parametrize(
        "path", ["_delta_log/a", "a/../_delta_log/a", "../x", "/x", "_delta%5Flog/a"]
    )
    def test_what_is_no_data_file_of_the_table_is_not_deleted(
        self, store: TableStore, path: str
    ) -> None:
        store.put("a", b"log")

        with pytest.raises(PathEscapesTableError):
            store.delete_data_file(path)

        assert store.read("a") == b"log"

    @pytest.mark.parametrize(
        "path", ["../x", "a/../../x", "%2E%2E/x", "/x", "//x", "other://x/y", "a%00"]
    )
    def test_a_path_out_of_the_table_is_refused(
        self, store: TableStore, path: str
    ) -> None:
        for use in (
            lambda: store.open_data_file(path),
            lambda: store.has_data_file(path),
            lambda: store.put_data_file(path, b""),
        ):
            with pytest.raises(PathEscapesTableError):
                use()

    def test_a_path_that_stays_inside_may_turn(self, store: TableStore) -> None:
        store.put_data_file("a", b"data")

        assert store.has_data_file("./b/../a")

    def test_a_data_file_that_is_begun_is_there_once_it_is_committed(
        self, store: TableStore
    ) -> None:
        pending = store.begin_data_file("p=%2520/a%20b.parquet")
        pending.sink.write(b"data")
        assert pending.finish() == 4
        assert not store.has_data_file("p=%2520/a%20b.parquet")

        pending.commit()

        with store.open_data_file("p=%2520/a b.parquet") as file:
            assert file.read() == b"data"

    def test_a_data_file_that_is_discarded_is_nowhere(self, store: TableStore) -> None:
        pending = store.begin_data_file("p=1/a.parquet")
        pending.sink.write(b"data")
        pending.discard()

        assert not [place for some in store.list_data_files() for place in some]

    def test_the_log_of_a_table_below_is_listed_with_its_files(
        self, store: TableStore
    ) -> None:
        places = {"b/_delta_log/0.json", "b/part"}
        for place in places:
            store.put_data_file(place, b"")
        store.put("0.json", b"")

        files = [str(place) for some in store.list_data_files() for place in some]
        statuses = pa.Table.from_batches(store.list_data_statuses())

        assert {*files} == places
        assert {*statuses["place"].to_pylist()} == places
