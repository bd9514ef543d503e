"""Commits to an S3 server that errs: never lost, never doubled, never over another."""

import json

import pytest

from deltaweb.delta.log.paths import commit_name
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import StoreNotWritableError
from deltaweb.storage.place import open_store
from tests.support import cases
from tests.support.stores.faulty_s3 import Faults, faulty
from tests.support.stores.s3_server import S3Server
from tests.support.tables.written_tables import (
    AT_ONCE,
    added,
    create,
    live_paths,
    on_newest,
)


@cases("status", {"an error": 500, "a request to come later": 503, "nothing at all": 0})
def test_a_put_that_was_done_and_answered_with_an_error_is_one_commit(s3, status):
    faults = Faults(status=status)
    with faulty(s3, faults) as server:
        store = open_store(f"s3://{s3.new_bucket()}/t", server.options)
        create(store)
        faults.failing_puts = 1
        transaction = on_newest(store, added=added(("a", "a", 1, 2)))

        result = commit(store, transaction, policy=AT_ONCE)

        assert faults.failing_puts < 0
        assert (result.version, result.rebased_over) == (1, ())
        assert store.list_names_from("") == [commit_name(0), commit_name(1)]
        first = json.loads(store.read(commit_name(1)).splitlines()[0])
        assert first["commitInfo"]["txnId"]
        assert live_paths(store) == ["a"]


def test_a_server_that_replaces_files_is_found_out(s3: S3Server) -> None:
    with faulty(s3, Faults(ignored_header="If-None-Match")) as server:
        store = open_store(f"s3://{s3.new_bucket()}/t", server.options)

        for _ in range(2):
            with pytest.raises(StoreNotWritableError, match="only where none is"):
                create(store)

        assert store.list_names_from("") == []


def test_a_server_that_refuses_without_naming_the_condition_is_written(s3: S3Server):
    with faulty(s3, Faults(names_condition=False)) as server:
        store = open_store(f"s3://{s3.new_bucket()}/t", server.options)
        create(store)
        first = on_newest(store, added=added(("a", "a", 1, 2)))
        second = on_newest(store, added=added(("b", "b", 3, 4)))

        results = [commit(store, one, policy=AT_ONCE) for one in (first, second)]

        assert [result.version for result in results] == [1, 2]
        assert results[1].rebased_over == (1,)
        assert live_paths(store) == ["a", "b"]


def test_the_try_of_a_server_leaves_nothing(s3: S3Server) -> None:
    bucket = s3.new_bucket()
    store = open_store(f"s3://{bucket}/t", s3.options)
    create(store)
    other = open_store(f"s3://{bucket}/u", s3.options)

    create(other)

    assert store.list_names_from("") == [commit_name(0)]
