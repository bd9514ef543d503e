import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from deltaweb.environment.home import (
    open_home,
    remember_served_url,
    secret_key,
    served_url,
)


def test_processes_that_start_together_agree_on_one_key(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)
    keys: list[str] = []

    def start() -> None:
        barrier.wait()
        keys.append(secret_key(tmp_path))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(keys)) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ImproperlyConfigured, match=r"DELTAWEB_HOME=.*file/home"):
        open_home(tmp_path / "file" / "home")


def test_a_home_that_cannot_be_written_is_named() -> None:
    # Not even root may write into the kernel's own folder.
    with pytest.raises(ImproperlyConfigured, match=r"'/proc/self' cannot be written"):
        open_home(Path("/proc/self"))


def test_the_address_that_was_served_last_is_known(tmp_path: Path) -> None:
    assert served_url(tmp_path) == ""

    for url in ("http://127.0.0.1:8001", "https://tables.example.org/lake"):
        remember_served_url(tmp_path, url)
        assert served_url(tmp_path) == url
