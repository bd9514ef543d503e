"""Ends of remote files are read once by a process that says that it keeps them."""

import io
from collections.abc import Iterator

import pytest

from deltaweb.delta.errors import DeltaError, LocationUnreachableError
from deltaweb.storage.remote_file import END_BYTES, WHOLE_BYTES, GuardedFile, kept_parts
from tests.support import cases

SMALL = bytes(range(256)) * 16
LARGE = bytes(range(256)) * ((WHOLE_BYTES + END_BYTES) // 256)


class RemoteFile(io.BytesIO):
    """A file of a store, and which of its bytes were asked for."""

    def __init__(self, data: bytes, *, etag: str = "e", path: str = "b/f") -> None:
        super().__init__(data)
        self.size = len(data)
        self.path = path
        self.details = {"ETag": etag}
        self.reads: list[tuple[int, int]] = []

    def read(self, size: int | None = -1) -> bytes:
        at = self.tell()
        data = super().read(size)
        self.reads.append((at, len(data)))
        return data


@pytest.fixture(autouse=True)
def _keeping() -> Iterator[None]:
    kept_parts.begin()
    yield
    kept_parts.end()


def opened(file: RemoteFile, *, access: str = "a") -> GuardedFile:
    return GuardedFile(file, fault, access=access)


def fault(_: Exception) -> DeltaError:
    return LocationUnreachableError(location="s3://b", reason="it does not answer")


def test_a_small_file_is_read_once_and_whole() -> None:
    first, second = RemoteFile(SMALL), RemoteFile(SMALL)

    assert opened(first).read() == SMALL
    guarded = opened(second)
    guarded.seek(300)
    assert guarded.read(100) == SMALL[300:400]
    assert guarded.tell() == 400
    assert (first.reads, second.reads) == ([(0, len(SMALL))], [])


def test_of_a_large_file_the_end_is_kept() -> None:
    opened(RemoteFile(LARGE))
    file = RemoteFile(LARGE)
    guarded = opened(file)

    guarded.seek(-END_BYTES, io.SEEK_END)
    assert guarded.read(END_BYTES) == LARGE[-END_BYTES:]
    assert file.reads == []
    guarded.seek(5)
    assert guarded.read(7) == LARGE[5:12]
    assert file.reads == [(5, 7)]


@cases(
    "other, access",
    {
        "written anew": (RemoteFile(SMALL[::-1], etag="other"), "a"),
        "another file": (RemoteFile(SMALL[::-1], path="b/g"), "a"),
        "other credentials": (RemoteFile(SMALL[::-1]), "other"),
    },
)
def test_another_file_is_read_for_itself(other: RemoteFile, access: str) -> None:
    opened(RemoteFile(SMALL))

    assert opened(other, access=access).read() == SMALL[::-1]


def test_a_store_that_does_not_tell_files_apart_is_asked_each_time() -> None:
    for _ in range(2):
        file = RemoteFile(SMALL)
        file.details = {}
        assert opened(file).read() == SMALL
        assert file.reads == [(0, len(SMALL))]


def test_a_process_that_does_not_say_so_keeps_nothing() -> None:
    kept_parts.end()

    for _ in range(2):
        file = RemoteFile(SMALL)
        assert opened(file).read() == SMALL
        assert file.reads == [(0, len(SMALL))]
