from collections.abc import Iterator
from contextlib import ExitStack
from uuid import UUID, uuid4

import pytest

from apps.sharing.api import downloads
from apps.sharing.api.downloads import MAX_OF_A_TOKEN, MAX_OF_ALL, Download
from deltaweb.sharing.errors import TooManyDownloadsError


@pytest.fixture
def begun() -> Iterator[ExitStack]:
    """Downloads that end with the test."""
    with ExitStack() as stack:
        yield stack


def begin(begun: ExitStack, token_id: UUID, count: int) -> list[Download]:
    made = [Download(token_id) for _ in range(count)]
    for download in made:
        begun.callback(download.end)
    return made


class TestDownload:
    def test_of_one_token_are_so_many(self, begun: ExitStack) -> None:
        token_id = uuid4()
        first, *_ = begin(begun, token_id, MAX_OF_A_TOKEN)

        with pytest.raises(TooManyDownloadsError, match="More files"):
            Download(token_id)

        begin(begun, uuid4(), 1)
        first.end()
        begin(begun, token_id, 1)

    def test_of_all_tokens_are_so_many(self, begun: ExitStack) -> None:
        for _ in range(MAX_OF_ALL // MAX_OF_A_TOKEN):
            begin(begun, uuid4(), MAX_OF_A_TOKEN)

        with pytest.raises(TooManyDownloadsError):
            Download(uuid4())

    def test_end_once(self) -> None:
        token_id = uuid4()
        download = Download(token_id)

        download.end()
        download.end()

        assert token_id not in downloads._running  # noqa: SLF001 (what it remembers)
