import logging
import os
import stat
import threading
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from deltaweb.environment.checks import check_home
from deltaweb.environment.home import (
    open_home,
    open_mode,
    remember_served_url,
    secret_key,
    served_url,
)
from tests.support import cases


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


class TestAHomeThatIsOpenToEverybody:
    """As `mkdir` makes one, or a volume."""

    @cases(
        "mode, closed",
        {
            "as mkdir makes it": (0o755, 0o700),
            "where names must be known": (0o701, 0o700),
            "where everybody writes": (0o777, 0o770),
            "where a group works together": (0o2775, 0o2770),
        },
    )
    def test_is_closed_and_says_so(self, tmp_path, caplog, mode, closed):
        home = new_home(tmp_path, mode)
        caplog.set_level(logging.WARNING)

        assert open_home(home) == home

        assert stat.S_IMODE(home.stat().st_mode) == closed
        (said,) = caplog.messages
        assert str(home) in said
        assert f"mode {mode:04o}" in said
        assert open_mode(home) == 0

    @pytest.mark.parametrize("mode", [0o700, 0o750, 0o770])
    def test_is_none_that_a_group_alone_may_read(self, tmp_path, caplog, mode):
        home = new_home(tmp_path, mode)
        caplog.set_level(logging.WARNING)

        open_home(home)

        assert stat.S_IMODE(home.stat().st_mode) == mode
        assert caplog.messages == []

    def test_and_used_by_others_is_left_as_it_is_and_warned_of(
        self, tmp_path: Path, settings: Settings
    ) -> None:
        home = settings.HOME = new_home(tmp_path, 0o1777)

        open_home(home)

        assert stat.S_IMODE(home.stat().st_mode) == 0o1777
        (warning,) = check_home()
        assert "is open to every user of this machine (mode 1777)" in warning.msg
        assert f"chmod o= {home}" in (warning.hint or "")

    @pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives files away")
    def test_that_holds_files_of_others_is_left_as_it_is(self, tmp_path: Path) -> None:
        home = new_home(tmp_path, 0o755)
        (home / "theirs").touch()
        os.chown(home / "theirs", 12345, -1)

        open_home(home)

        assert open_mode(home) == 0o755

    def test_and_closed_needs_no_warning(self, tmp_path: Path, settings: Settings):
        settings.HOME = open_home(new_home(tmp_path, 0o755))

        assert check_home() == []


def new_home(folder: Path, mode: int) -> Path:
    """Make a home as an administrator does."""
    home = folder / "home"
    home.mkdir()
    home.chmod(mode)
    return home


def test_the_address_that_was_served_last_is_known(tmp_path: Path) -> None:
    assert served_url(tmp_path) == ""

    for url in ("http://127.0.0.1:8001", "https://tables.example.org/lake"):
        remember_served_url(tmp_path, url)
        assert served_url(tmp_path) == url
