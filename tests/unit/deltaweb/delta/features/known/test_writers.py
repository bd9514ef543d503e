"""Who could no longer write a table after an upgrade is told by client and release."""

from deltaweb.delta.features.known.writers import shut_out
from deltaweb.delta.protocol.actions import Protocol
from tests.support import cases

OLD = Protocol(min_reader_version=1, min_writer_version=2)


def listing(*features: str) -> Protocol:
    return Protocol(
        min_reader_version=1, min_writer_version=7, writer_features=[*features]
    )


def test_nobody_is_shut_out_by_a_protocol_that_stays() -> None:
    assert shut_out(OLD, OLD) == []
    listed = listing("appendOnly", "rowTracking")
    assert shut_out(listed, listed) == []


@cases(
    "then, words",
    {
        "a version brings one feature": (
            Protocol(min_reader_version=1, min_writer_version=3),
            ["Spark with Delta before 0.8 (checkConstraints)"],
        ),
        "the newest of several decides": (
            Protocol(min_reader_version=1, min_writer_version=4),
            ["Spark with Delta before 2.0 (changeDataFeed)"],
        ),
        "the list itself is news": (
            listing("appendOnly"),
            ["Spark with Delta before 2.3 (table features)"],
        ),
        "a client that was tried refuses it": (
            listing("rowTracking"),
            [
                "Spark with Delta before 3.2 (rowTracking)",
                "deltalake 1.6 (rowTracking)",
            ],
        ),
    },
)
def test_clients_are_named_with_what_shuts_them_out(then: Protocol, words: list[str]):
    assert [client.words for client in shut_out(OLD, then)] == words
