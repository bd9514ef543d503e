from collections.abc import Iterator
from contextlib import ExitStack
from uuid import UUID, uuid4

import pytest

from apps.sharing.api.places import (
    MAX_OF_A_TOKEN,
    MAX_OF_ALL,
    Download,
    Place,
    Stream,
)
from deltaweb.sharing.errors import TooManyDownloadsError, TooManyStreamsError


@pytest.fixture
def begun() -> Iterator[ExitStack]:
    """Downloads that end with the test."""
    with ExitStack() as stack:
        yield stack


def begin(begun: ExitStack, kind: type[Place], token_id: UUID, count: int):
    made = [kind(token_id) for _ in range(count)]
    for place in made:
        begun.callback(place.end)
    return made


@pytest.mark.parametrize(
    ("kind", "other", "refusal"),
    [
        (Download, Stream, TooManyDownloadsError),
        (Stream, Download, TooManyStreamsError),
    ],
)
class TestPlace:
    def test_of_one_token_are_so_many(self, begun, kind, other, refusal):
        token_id = uuid4()
        first, *_ = begin(begun, kind, token_id, MAX_OF_A_TOKEN)

        with pytest.raises(refusal, match="at the same time"):
            kind(token_id)

        begin(begun, kind, uuid4(), 1)
        begin(begun, other, token_id, 1)
        first.end()
        begin(begun, kind, token_id, 1)

    def test_of_all_tokens_are_so_many(self, begun, kind, other, refusal):
        for _ in range(MAX_OF_ALL // MAX_OF_A_TOKEN):
            begin(begun, kind, uuid4(), MAX_OF_A_TOKEN)

        with pytest.raises(refusal):
            kind(uuid4())
        begin(begun, other, uuid4(), 1)


class TestEnd:
    def test_is_once(self) -> None:
        token_id = uuid4()
        place = Download(token_id)
        assert Download.running[token_id] == 1

        place.end()
        place.end()

        assert token_id not in Download.running

    def test_is_that_of_what_nobody_closed(self) -> None:
        token_id = uuid4()

        Stream(token_id)

        assert token_id not in Stream.running
