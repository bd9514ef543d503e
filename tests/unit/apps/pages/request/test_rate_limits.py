import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from apps.pages.request.rate_limits import NUM_SETS, SLOTS_A_SET, TokenBuckets
from tests.support.files.full_disk import files_of_at_most

TAKE = """
import sys
from pathlib import Path
from apps.pages.request.rate_limits import TokenBuckets

buckets = TokenBuckets(Path(sys.argv[1]), rate=1, burst=1000)
print(sum(buckets.take(b"key", now_s=5.0) == 0 for _ in range(600)))
"""


@pytest.fixture
def buckets(tmp_path: Path) -> TokenBuckets:
    """Buckets of five that fill at two a second."""
    return TokenBuckets(tmp_path / "rates", rate=2, burst=5)


def take(buckets: TokenBuckets, count: int, *, now_s: float, key: bytes = b"a") -> int:
    """How many of a number of takes succeed."""
    return sum(buckets.take(key, now_s=now_s) == 0 for _ in range(count))


class TestTokenBuckets:
    def test_hold_a_burst(self, buckets: TokenBuckets) -> None:
        assert take(buckets, 9, now_s=100) == 5

    def test_fill_at_their_rate(self, buckets: TokenBuckets) -> None:
        take(buckets, 9, now_s=100)

        assert take(buckets, 9, now_s=101.5) == 3
        assert take(buckets, 9, now_s=1000) == 5

    def test_tell_how_long_to_wait(self, buckets: TokenBuckets) -> None:
        take(buckets, 5, now_s=100)

        assert buckets.take(b"a", now_s=100) == pytest.approx(0.5)
        assert buckets.take(b"a", now_s=100.25) == pytest.approx(0.25)

    def test_take_back_what_did_not_count(self, buckets: TokenBuckets) -> None:
        take(buckets, 5, now_s=100)

        buckets.give_back(b"a", now_s=100)

        assert take(buckets, 2, now_s=100) == 1

    def test_never_hold_more_than_a_burst(self, buckets: TokenBuckets) -> None:
        buckets.give_back(b"a", now_s=100)

        assert take(buckets, 9, now_s=100) == 5

    def test_are_apart(self, buckets: TokenBuckets) -> None:
        take(buckets, 9, now_s=100)

        assert take(buckets, 9, now_s=100, key=b"b") == 5

    def test_are_full_after_a_restart_of_the_machine(self, buckets: TokenBuckets):
        take(buckets, 9, now_s=1_000_000)

        assert take(buckets, 9, now_s=3) == 5

    def test_do_not_run_backwards(self, buckets: TokenBuckets) -> None:
        take(buckets, 9, now_s=100)

        assert take(buckets, 9, now_s=99.5) == 0

    def test_outlast_their_process(self, buckets: TokenBuckets, tmp_path: Path) -> None:
        take(buckets, 9, now_s=100)

        again = TokenBuckets(tmp_path / "rates", rate=2, burst=5)
        assert take(again, 9, now_s=100) == 0

    def test_of_more_keys_than_slots_never_refuse_a_first(self, buckets: TokenBuckets):
        keys = [str(n).encode() for n in range(NUM_SETS * SLOTS_A_SET * 2)]

        assert all(buckets.take(key, now_s=100) == 0 for key in keys)

    def test_of_damaged_files_are_full(self, tmp_path: Path) -> None:
        path = tmp_path / "rates"
        path.write_bytes(b"\xff" * 1_000_000)
        buckets = TokenBuckets(path, rate=2, burst=5)

        assert take(buckets, 9, now_s=100) == 5

    def test_are_exact_over_threads(self, tmp_path: Path) -> None:
        buckets = TokenBuckets(tmp_path / "rates", rate=1, burst=1000)
        taken: list[int] = []

        def run() -> None:
            taken.append(take(buckets, 400, now_s=5))

        threads = [threading.Thread(target=run) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sum(taken) == 1000

    def test_are_exact_over_processes(self, tmp_path: Path) -> None:
        command = [sys.executable, "-c", TAKE, str(tmp_path / "rates")]
        processes = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            for _ in range(3)
        ]

        taken = [int(process.communicate(timeout=120)[0]) for process in processes]

        assert sum(taken) == 1000

    def test_with_a_debt_make_wait_longer_each_time(self, tmp_path: Path) -> None:
        buckets = TokenBuckets(tmp_path / "rates", rate=2, burst=1, debt=2)

        waits = [buckets.take(b"a", now_s=5) for _ in range(5)]

        assert waits == [0, 0.5, 1, 1.5, 1.5]
        assert buckets.take(b"a", now_s=6.5) == 0

    def test_without_a_file_fail(self, tmp_path: Path) -> None:
        buckets = TokenBuckets(tmp_path / "no" / "rates", rate=1, burst=1)

        with pytest.raises(OSError, match="No such file"):
            buckets.take(b"a", now_s=1)

    @pytest.mark.parametrize("size_bytes", [0, 1 << 18], ids=["new", "without blocks"])
    def test_without_room_on_the_disk_fail_by_an_error(self, tmp_path, size_bytes):
        path = tmp_path / "rates"
        path.touch()
        os.truncate(path, size_bytes)
        buckets = TokenBuckets(path, rate=2, burst=5)

        with files_of_at_most(1 << 12):
            for number in range(9):
                with pytest.raises(OSError, match="File too large"):
                    buckets.take(b"%d" % number, now_s=1)
            descriptors = Path("/proc/self/fd").iterdir()
            assert sum(entry.resolve() == path for entry in descriptors) <= 1

        assert take(buckets, 9, now_s=1) == 5

    def test_go_on_in_a_file_that_was_cut(self, tmp_path: Path) -> None:
        path = tmp_path / "rates"
        buckets = TokenBuckets(path, rate=2, burst=5)
        take(buckets, 9, now_s=100)

        os.truncate(path, 0)

        assert take(buckets, 9, now_s=100) == 5
