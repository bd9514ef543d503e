"""`deltaweb table` as a process of its own: exit codes, and what it loads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation in which nothing is set up."""
    return tmp_path_factory.mktemp("home")


def environment(home: Path) -> dict[str, str]:
    """Return the variables of a process that belongs to an installation."""
    return {
        **os.environ,
        "DELTAWEB_HOME": str(home),
        "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
    }


class TestProcess:
    def deltaweb(self, home: Path, *arguments: object, cwd: Path | None = None):
        return subprocess.run(
            [sys.executable, "-m", "deltaweb", "table", *map(str, arguments)],
            env=environment(home),
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def test_reads_a_table_before_anything_is_set_up(self, home: Path, lake: Path):
        shown = self.deltaweb(home, "show", lake / "orders", "--json", cwd=Path("/"))

        assert shown.returncode == 0, shown.stderr
        assert json.loads(shown.stdout)["version"] >= 0
        assert shown.stderr == ""

    def test_a_domain_error_is_exit_1_and_one_line(self, home: Path) -> None:
        refused = self.deltaweb(home, "show", "/nothing")

        assert refused.returncode == 1
        assert refused.stdout == ""
        assert len(refused.stderr.strip().split("\n")) == 1
        assert "Traceback" not in refused.stderr

    def test_bad_usage_is_exit_2(self, home: Path) -> None:
        assert self.deltaweb(home, "rows", "x", "--limit", "-1").returncode == 2
