import json
from collections.abc import Iterator

import pytest

from apps.audit.models import AuditEvent
from apps.sharing.api.audit import CallRecord
from apps.sharing.api.streams import BROKEN, RecordedStream
from deltaweb.delta.errors import LocationDeniedError
from deltaweb.sharing.wire.lines import EndAction
from tests.support.pages.factories import NOW

pytestmark = pytest.mark.django_db


def stream(chunks: Iterator[bytes], end: EndAction | None = None) -> RecordedStream:
    record = CallRecord(action="table.query", at=NOW, request_id="r1")
    return RecordedStream(chunks, record, end=end)


def recorded() -> list[tuple[int, str, dict[str, object]]]:
    return [(e.status, e.error_code, e.detail) for e in AuditEvent.objects.all()]


def breaking() -> Iterator[bytes]:
    yield b"one"
    message = "the disk is gone"
    raise OSError(message)


class TestRecordedStream:
    def test_is_recorded_at_its_end(self) -> None:
        answer = stream(iter([b"one", b"two"]))
        assert next(answer) == b"one"
        assert recorded() == []

        assert list(answer) == [b"two"]

        assert recorded() == [(200, "", {})]

    def test_is_recorded_once(self) -> None:
        answer = stream(iter([b"one"]))
        list(answer)

        answer.close()

        assert recorded() == [(200, "", {})]

    def test_that_a_client_leaves_is_recorded(self) -> None:
        answer = stream(iter([b"one", b"two"]))
        next(answer)

        answer.close()

        assert recorded() == [(200, "", {"ended": "client left", "bytes_sent": 3})]

    def test_that_nobody_reads_is_recorded(self) -> None:
        stream(iter([b"one"])).close()

        assert recorded() == [(200, "", {"ended": "client left", "bytes_sent": 0})]

    def test_closes_what_it_reads_from(self) -> None:
        closed = []

        def chunks() -> Iterator[bytes]:
            try:
                yield b"one"
                yield b"two"
            finally:
                closed.append(True)

        answer = stream(chunks())
        next(answer)
        answer.close()

        assert closed == [True]

    def test_that_breaks_is_raised_and_recorded(self) -> None:
        answer = stream(breaking())
        next(answer)

        with pytest.raises(OSError, match="disk"):
            next(answer)

        assert recorded() == [(200, BROKEN, {"ended": "broken", "bytes_sent": 3})]

    def test_ends_with_the_line_of_its_end(self) -> None:
        answer = stream(iter([b"one"]), EndAction(next_page_token="x"))

        assert list(answer) == [
            b"one",
            b'{"endStreamAction":{"nextPageToken":"x"}}\n',
        ]

        assert recorded() == [(200, "", {})]

    def test_that_breaks_says_so_to_who_waits_for_an_end(self) -> None:
        answer = stream(breaking(), EndAction())

        *_, last = list(answer)

        message = "The server failed in the middle of its answer. Try again."
        assert json.loads(last) == {"endStreamAction": {"errorMessage": message}}
        assert recorded() == [(200, BROKEN, {"ended": "broken", "bytes_sent": 3})]

    def test_that_breaks_tells_what_a_recipient_may_know(self) -> None:
        def denied() -> Iterator[bytes]:
            yield b"one"
            raise LocationDeniedError(location="s3://secret/place")

        *_, last = list(stream(denied(), EndAction()))

        message = json.loads(last)["endStreamAction"]["errorMessage"]
        assert "permission denied" in message
        assert "secret" not in message
