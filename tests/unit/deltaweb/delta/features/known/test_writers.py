"""Who could no longer write a table after an upgrade is told by client and release."""

import pytest

from deltaweb.delta.features.known.writers import shut_out
from deltaweb.delta.protocol.actions import Protocol

OLD = Protocol(min_reader_version=1, min_writer_version=2)


def listing(*features: str) -> Protocol:
    return Protocol(
        min_reader_version=1, min_writer_version=7, writer_features=[*features]
    )


def test_nobody_is_shut_out_by_a_protocol_that_stays() -> None:
    assert shut_out(OLD, OLD) == []
    listed = listing("appendOnly", "rowTracking")
    assert shut_out(listed, listed) == []


@pytest.mark.parametrize(
    ("then", "words"),
    [
        pytest.param(
            Protocol(min_reader_version=1, min_writer_version=3),
            ["Spark with Delta before 0.8 (checkConstraints)"],
            id="a version brings one feature",
        ),
        pytest.param(
            Protocol(min_reader_version=1, min_writer_version=4),
            ["Spark with Delta before 2.0 (changeDataFeed)"],
            id="the newest of several decides",
        ),
        pytest.param(
            listing("appendOnly"),
            ["Spark with Delta before 2.3 (table features)"],
            id="the list itself is news",
        ),
        pytest.param(
            listing("rowTracking"),
            [
                "Spark with Delta before 3.2 (rowTracking)",
                "deltalake 1.6 (rowTracking)",
            ],
            id="a client that was tried refuses it",
        ),
    ],
)
def test_clients_are_named_with_what_shuts_them_out(then: Protocol, words: list[str]):
    assert [client.words for client in shut_out(OLD, then)] == words
