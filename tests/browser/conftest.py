"""A real installation, started as a person starts it, and a real Chromium."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
START_TIMEOUT_S = 120


@dataclass(frozen=True)
class Server:
    """A running installation with the sample tables."""

    url: str
    home: Path

    @property
    def sign_in_link(self) -> str:
        """A fresh one-time link of the first administrator."""
        return self.command("user", "link", "admin").strip().split()[-1]

    def command(self, *arguments: str) -> str:
        """Run a command against this installation and return what it prints."""
        return subprocess.run(
            [sys.executable, "-m", "deltaweb", *arguments],
            env=environment(self.home, int(self.url.rsplit(":", 1)[1])),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout


def environment(home: Path, port: int) -> dict[str, str]:
    """Variables of a process of the installation, none of the tests' own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DELTAWEB_")}
    kept.pop("LAKE", None)
    return {
        **kept,
        "DJANGO_SETTINGS_MODULE": "deltaweb.settings",
        "DELTAWEB_HOME": str(home),
        "DELTAWEB_PROBE_INTERVAL_S": "2",
        "DELTAWEB_LOG_LEVEL": "WARNING",
        "PORT": str(port),
        "WORKERS": "1",
    }


def free_port() -> int:
    """A port that nobody uses just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_ready(url: str) -> bool:
    """Whether the server answers and a worker has reported."""
    try:
        with urllib.request.urlopen(f"{url}/status.json", timeout=2) as answer:  # noqa: S310
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`deltaweb serve` with a home of its own."""
    home = tmp_path_factory.mktemp("home")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    log = (home / "serve.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "deltaweb", "serve"],
        env=environment(home, port),
        cwd=ROOT,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while not is_ready(url):
            assert process.poll() is None, (home / "serve.log").read_text()
            assert time.monotonic() < deadline_s, (home / "serve.log").read_text()
            time.sleep(0.5)
        yield Server(url, home)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        log.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
    executable = shutil.which("chromium")
    assert executable, "no chromium here: 'make test' installs it"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield chromium
        chromium.close()


@dataclass
class Watch:
    """What a page did that it must not do."""

    page: Page
    foreign: list[str]
    faults: list[str]


@pytest.fixture
def watch(browser: Browser, server: Server) -> Iterator[Watch]:
    """A signed-in page that keeps foreign requests and faults of scripts."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    page = context.new_page()
    seen = Watch(page, [], [])

    def on_request(url: str) -> None:
        if not url.startswith((server.url, "data:", "blob:")):
            seen.foreign.append(url)

    page.on("request", lambda request: on_request(request.url))
    page.on("pageerror", lambda error: seen.faults.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda message: (
            seen.faults.append(f"{page.url}: {message.text}")
            if message.type == "error" and "style" not in message.text
            else None
        ),
    )
    page.goto(server.sign_in_link)
    yield seen
    context.close()
