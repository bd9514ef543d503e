"""`deltaweb serve` in real processes: what the one command promises."""

import contextlib
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.processes.installation import (
    ROOT,
    environment,
    is_running,
    migrate,
    page_opener,
    rows,
    run,
    run_each,
    serving,
    status_of,
    wait_for,
)
from tests.support.processes.ports import free_port

pytestmark = pytest.mark.timeout(900)  # of starts that may take minutes


def table_names(home: Path) -> list[str]:
    tables = rows(home, "SELECT namespace, name FROM tables_table")
    return sorted(f"{table['namespace']}.{table['name']}" for table in tables)


def children_of(pid: int) -> set[int]:
    """Every process below one, by the kernel's own lists."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        path = Path(f"/proc/{waiting.pop()}/task")
        for task in path.iterdir() if path.exists() else ():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                below = {int(word) for word in (task / "children").read_text().split()}
                waiting += below
                found |= below
    return found


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if is_running(pid)}


def test_a_busy_port_is_one_clear_sentence(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = run(tmp_path, "serve", PORT=port)

    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"Port {port}" in done.stderr
    assert "PORT=8001 make run" in done.stderr


def test_a_lake_that_is_no_folder_is_refused_before_anything_starts(tmp_path: Path):
    done = run(tmp_path, "serve", PORT=str(free_port()), LAKE="/no/such/folder")

    assert done.returncode == 1
    assert "LAKE=/no/such/folder is not a folder" in done.stderr


def test_a_table_is_opened_in_the_browser_by_the_server_that_runs_or_by_its_own(
    tmp_path: Path, lake: Path
) -> None:
    home, seen = tmp_path / "home", tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >> {seen}\n')
    browser.chmod(0o755)
    home.mkdir()
    migrate(home)
    line = (sys.executable, "-m", "deltaweb", "open", "--home", str(home))

    with serving(
        home,
        ready=503,
        line=(*line, str(lake / "orders")),
        BROWSER=f"{browser} %s",
        WORKERS="0",
        DELTAWEB_WEB_PROCESSES="1",
    ):
        assert wait_for(seen.exists)
        first = opened(seen.read_text().splitlines()[0])
        again = run(home, "open", str(lake / "customers"))
        second = opened(again.stdout.removeprefix("Sign in: ").strip())
        refused = run(home, "open", str(tmp_path))

    assert first.endswith("/t/default/orders/")
    assert second.endswith("/t/default/customers/")
    assert table_names(home) == ["default.customers", "default.orders"]
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"Error: {tmp_path} is not a Delta table")


def opened(link: str) -> str:
    """The page to which a link leads who is signed in by it."""
    browser = page_opener()
    with browser.open(link, timeout=60) as answer:
        return str(answer.url)


class TestWithoutWorkers:
    def test_samples_stand_the_link_signs_in_once_and_an_interrupt_ends_it_all(
        self, tmp_path: Path, lake: Path
    ) -> None:
        shutil.copytree(lake, tmp_path / "samples")  # test_wheel.py has them made
        with serving(tmp_path, ready=503, WORKERS="0") as installation:
            link = (tmp_path / "sign-in-link").read_text().strip()
            printed = re.findall(r"^Sign in: (\S+)$", installation.log, re.MULTILINE)
            first = status_of(link)
            second = status_of(link)
            page = urllib.request.urlopen(f"{installation.url}/")  # noqa: S310
            add = ("user", "add", "ada", "--role", "viewer")
            _, linked = run_each(tmp_path, add, ("user", "link", "ada"))
            below = children_of(installation.process.pid)
            assert below

        assert printed == [link]
        assert first == 200
        assert second != 200
        assert page.status == 200
        assert linked.startswith(f"{installation.url}/sign-in/")
        assert len(table_names(tmp_path)) == 4
        assert (tmp_path / "sign-in-link").stat().st_mode & 0o777 == 0o600
        assert wait_for(lambda: not alive(below), timeout_s=60)

    def test_an_empty_lake_is_served_the_link_comes_late_and_a_kill_ends_it_all(
        self, tmp_path: Path
    ) -> None:
        home, lake = tmp_path / "home", tmp_path / "lake"
        for folder in (home, lake):
            folder.mkdir()
        migrate(home)
        port = free_port()
        process = subprocess.Popen(
            [sys.executable, "-m", "deltaweb", "serve"],
            env=environment(
                home,
                WORKERS="0",
                PORT=str(port),
                LAKE=str(lake),
                DELTAWEB_WEB_PROCESSES="1",
            ),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            link = line.removeprefix("Sign in: ").strip()
            listens = status_of(link)
            below = children_of(process.pid)
            assert below
        finally:
            process.kill()
            rest = process.communicate(timeout=60)[0]

        assert link.startswith(f"http://127.0.0.1:{port}/sign-in/")
        assert listens == 200
        assert rest == ""
        assert table_names(home) == []
        assert wait_for(lambda: not alive(below), timeout_s=60)
