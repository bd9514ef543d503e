"""News on one machine."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from apps.news.channels.pipes import PipeChannel, PipeListener


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "news"


@pytest.fixture
def channel(folder: Path) -> PipeChannel:
    return PipeChannel(folder)


def heard(listener: PipeListener, number: int) -> list[str]:
    """As many topics as were sent, from as many parts as they came in."""
    found: list[str] = []
    while len(found) < number:
        found += listener.hear(60)
    return found


class TestAPipe:
    def test_takes_topics_to_everybody_who_listens(self, channel: PipeChannel) -> None:
        with channel.listening() as first, channel.listening() as second:
            channel.send(["job:1", "jobs"])
            channel.send(["jobs"])

            assert heard(first, 3) == heard(second, 3) == ["job:1", "jobs", "jobs"]

    def test_says_nothing_where_nothing_was_sent(self, channel: PipeChannel) -> None:
        with channel.listening() as listener:
            assert list(listener.hear(0)) == []

    def test_takes_more_topics_than_are_written_at_once(self, channel: PipeChannel):
        topics = [f"job:{number:036}" for number in range(300)]
        with channel.listening() as listener:
            channel.send(topics)

            assert heard(listener, 300) == topics

    def test_that_was_removed_is_found_out(self, channel: PipeChannel, folder: Path):
        with ExitStack() as stack:
            listener = stack.enter_context(channel.listening())
            listener.check()
            for path in folder.iterdir():
                path.unlink()

            with pytest.raises(FileNotFoundError):
                listener.check()

    def test_needs_no_folder_where_nobody_listens(self, channel: PipeChannel) -> None:
        channel.send(["jobs"])
