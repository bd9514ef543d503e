"""Where an installation is, as its line says, and without a word."""

import os
from pathlib import Path

import pytest

from deltaweb.environment.command_lines import take_place
from deltaweb.environment.home import default_home


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "DELTAWEB_HOME"):
        monkeypatch.setenv(name, "before")  # put back after the test


class TestTakePlace:
    @pytest.mark.parametrize(
        "line", ["lake --port 8001 --home {}", "--home={} --port=8001 a b"]
    )
    def test_takes_port_and_home_into_variables(self, tmp_path: Path, line: str):
        take_place(line.format(tmp_path / "home").split())

        assert os.environ["PORT"] == "8001"
        assert os.environ["DELTAWEB_HOME"] == str(tmp_path / "home")

    def test_a_home_is_a_whole_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HOME", str(tmp_path / "me"))

        take_place(["--home", "here"])
        assert os.environ["DELTAWEB_HOME"] == str(tmp_path / "here")
        take_place(["--home", "~/there"])
        assert os.environ["DELTAWEB_HOME"] == str(tmp_path / "me" / "there")

    @pytest.mark.parametrize("line", [[], ["lake"], ["--port"], ["--ports", "1"]])
    def test_leaves_them_where_nothing_is_said_of_them(self, line: list[str]) -> None:
        take_place(line)

        assert os.environ["PORT"] == os.environ["DELTAWEB_HOME"] == "before"


class TestDefaultHome:
    def test_is_in_a_checkout_beside_the_package(self, tmp_path: Path) -> None:
        package = tmp_path / "deltaweb"
        package.mkdir()
        (tmp_path / "manage.py").touch()

        assert default_home(package) == tmp_path / "var"

    def test_is_the_users_own_of_an_installed_package(self, tmp_path, monkeypatch):
        package = tmp_path / "site-packages" / "deltaweb"
        package.mkdir(parents=True)
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

        assert default_home(package) == tmp_path / "data" / "deltaweb"
