"""A protocol goes up as far as a change needs, and only once that is agreed to."""

import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.actions import Protocol
from deltaweb.delta.writing.errors import ProtocolTooOldError
from deltaweb.delta.writing.operations.protocol_change import upgraded
from tests.support.tables.table_builder import TableBuilder

OLD = Protocol(min_reader_version=1, min_writer_version=2)
LISTING = Protocol(
    min_reader_version=1, min_writer_version=7, writer_features=["appendOnly"]
)


def test_a_protocol_that_has_the_features_stays() -> None:
    assert upgraded(OLD, ["appendOnly"]) is OLD
    assert upgraded(LISTING, [], listed=["appendOnly"]) is LISTING


@pytest.mark.parametrize(
    ("features", "writer"), [(["checkConstraints"], 3), (["changeDataFeed"], 4)]
)
def test_versions_go_up_while_they_are_enough(features: list[str], writer: int) -> None:
    then = upgraded(OLD, features)

    assert (then.min_reader_version, then.min_writer_version) == (1, writer)
    assert then.writer_features is None


def test_a_list_takes_what_versions_brought_and_what_a_feature_rests_on() -> None:
    then = upgraded(OLD, ["rowTracking"])

    assert (then.min_reader_version, then.reader_features) == (1, None)
    assert then.writer_features == [
        "appendOnly",
        "invariants",
        "rowTracking",
        "domainMetadata",
    ]


def test_what_readers_must_know_is_listed_for_them_too() -> None:
    mapped = Protocol(min_reader_version=2, min_writer_version=5)

    then = upgraded(mapped, ["deletionVectors"])

    assert (then.min_reader_version, then.min_writer_version) == (3, 7)
    assert then.reader_features == ["columnMapping", "deletionVectors"]
    assert "columnMapping" in (then.writer_features or ())


def test_a_list_grows_by_what_is_asked() -> None:
    then = upgraded(LISTING, ["checkConstraints"])

    assert then.writer_features == ["appendOnly", "checkConstraints"]


def test_the_refusal_says_from_what_to_what_and_how() -> None:
    table = TableBuilder().build()

    with pytest.raises(ProtocolTooOldError) as caught:
        table.add_constraint("some", "n > 0")

    error = caught.value
    assert (error.now, error.then.min_writer_version) == (OLD, 3)
    assert error.features == ["checkConstraints"]
    assert "from reader 1, writer 2 to reader 1, writer 3" in error.message
    assert "upgrade=True" in error.hint
    assert table.latest_version() == 0


def test_both_are_one_commit() -> None:
    table = TableBuilder().build()

    table.add_constraint("some", "n > 0", upgrade=True)
    table.set_properties({"delta.enableDeletionVectors": "true"}, upgrade=True)

    protocol = table.definition().protocol
    assert table.latest_version() == 2
    assert protocol.reader_features == ["deletionVectors"]
    assert list(protocol.writer_features or ()) == [
        "appendOnly",
        "invariants",
        "checkConstraints",
        "deletionVectors",
    ]


def test_a_feature_that_is_named_is_agreed_to_where_others_are_listed() -> None:
    table = TableBuilder().build()
    feature = {"delta.feature.vacuumProtocolCheck": "supported"}
    with pytest.raises(ProtocolTooOldError, match="to reader 3, writer 7"):
        table.set_properties(feature)

    table.set_properties(feature, upgrade=True)
    table.set_properties({"delta.feature.domainMetadata": "supported"})

    assert "domainMetadata" in (table.definition().protocol.writer_features or ())


def test_a_change_without_need_of_it_takes_no_upgrade() -> None:
    table = TableBuilder().build()

    table.set_properties({"team": "blue"}, upgrade=True)

    assert table.definition().protocol == OLD


@pytest.mark.parametrize("upgrade", [False, True])
def test_a_feature_that_is_not_written_here_is_refused(*, upgrade: bool) -> None:
    table = TableBuilder().build()

    with pytest.raises(DeltaError):
        table.set_properties({"delta.feature.a": "supported"}, upgrade=upgrade)

    assert table.latest_version() == 0
