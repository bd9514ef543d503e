"""The files of an answer, and their URLs, in columns."""

import pytest

from deltaweb.storage.received.columns import (
    ROWS,
    FileAction,
    ReceivedFiles,
    SignedURL,
    SignedURLs,
)


def columns(*actions: FileAction) -> ReceivedFiles:
    rows = ReceivedFiles.builder()
    for one in actions:
        rows.append(one.kind, one.version, one.timestamp_ms, one.line)
    return ReceivedFiles(rows.table())


def urls(**places: str) -> SignedURLs:
    rows = SignedURLs.builder()
    for path, url in places.items():
        rows.append(path, url, None, 7)
    return SignedURLs(rows.table())


def test_files_come_back_in_their_order_across_batches() -> None:
    actions = [
        FileAction.of("add", {"path": f"é{number}"}, version=number % 3)
        for number in range(ROWS + 2)
    ]

    found = columns(*actions)

    assert list(found) == actions
    assert [one.action["path"] for one in found][:2] == ["é0", "é1"]
    assert len(found) == ROWS + 2


def test_files_are_parted_by_version_and_keep_their_order() -> None:
    first = FileAction.of("remove", {"path": "a"}, version=5, timestamp_ms=1)
    second = FileAction.of("add", {"path": "b"}, version=4)
    third = FileAction.of("cdc", {"path": "c"}, version=5)
    without = FileAction.of("add", {"path": "d"})

    found = columns(first, second, without, third).by_version()

    assert {version: list(some) for version, some in found.items()} == {
        4: [second],
        5: [first, third],
    }
    assert list(found) == [4, 5]
    assert list(found[5].of_kind("cdc") + found[4]) == [third, second]
    assert ReceivedFiles().by_version() == {}


def test_the_later_url_of_a_path_counts() -> None:
    both = urls(b="old", a="1", c="3") | urls(b="new", d="4")

    assert dict(both) == {
        path: SignedURL(url, None, 7)
        for path, url in {"a": "1", "b": "new", "c": "3", "d": "4"}.items()
    }
    assert len(both) == 4
    assert "e" not in both
    assert "" not in both


@pytest.mark.parametrize("path", ["a", ""])
def test_without_urls_there_is_none(path: str) -> None:
    assert path not in SignedURLs()
    assert not SignedURLs() | SignedURLs()
