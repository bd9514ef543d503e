import threading

import pytest

from apps.tables.storage.bounded_read import StorageSlowError, read_within


def test_an_answer_in_time_is_the_answer() -> None:
    assert read_within(lambda: [1], timeout_s=60) == [1]


def test_an_answer_of_nothing_is_an_answer() -> None:
    assert read_within(lambda: None, timeout_s=60) is None


def test_an_error_of_the_read_is_the_callers() -> None:
    with pytest.raises(FileNotFoundError, match="gone"):
        read_within(lambda: _raise(FileNotFoundError("gone")), timeout_s=60)


def test_a_read_that_hangs_is_left_behind() -> None:
    until = threading.Event()

    with pytest.raises(StorageSlowError, match=r"within 0\.05 s"):
        read_within(until.wait, timeout_s=0.05)

    until.set()


def test_reads_that_hang_take_a_bounded_number_of_places() -> None:
    places = threading.BoundedSemaphore(1)
    until = threading.Event()
    with pytest.raises(StorageSlowError):
        read_within(until.wait, timeout_s=0.01, places=places)

    with pytest.raises(StorageSlowError, match="earlier reads"):
        read_within(lambda: 1, timeout_s=0.01, places=places)
    until.set()
    answer = read_within(lambda: 1, timeout_s=60, places=places)

    assert answer == 1


def _raise(error: Exception) -> None:
    raise error
