"""A real nginx signs people in, as the manual configures it."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import requests

from tests.support.processes.installation import (
    ROOT,
    Installation,
    migrate,
    serving,
    status_of,
    wait_for,
)
from tests.support.processes.ports import free_port

pytestmark = pytest.mark.exhaustive  # `make test` does not install nginx
PAGE: Final = ROOT / "docs" / "manual" / "operate" / "sign-on.md"
LOCATIONS: Final = re.compile(r"```\n(location = /auth .*?)```", re.DOTALL)
GROUPS: Final = {"ann": "data,ops", "zoe": "cooks"}
FORGED: Final = {"Remote-User": "zoe", "Remote-Groups": "data"}
VARIABLES: Final[dict[str, Any]] = {
    "DELTAWEB_REMOTE_USER_HEADER": "Remote-User",
    "DELTAWEB_REMOTE_GROUPS_HEADER": "Remote-Groups",
    "DELTAWEB_REMOTE_EMAIL_HEADER": "Remote-Email",
    "DELTAWEB_REMOTE_USER_PROXIES": "127.0.0.1",
    "DELTAWEB_SSO_REQUIRED_GROUPS": "data",
}


class Checks(BaseHTTPRequestHandler):
    """The service that checks a request: a cookie names the person."""

    def do_GET(self) -> None:
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        name = cookies["who"].value if "who" in cookies else ""
        self.send_response(200 if name in GROUPS else 401)
        if name in GROUPS:
            self.send_header("Remote-User", name)
            self.send_header("Remote-Groups", GROUPS[name])
            self.send_header("Remote-Email", f"{name}@example.com")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@dataclass(frozen=True)
class Site:
    """deltaweb behind its proxy."""

    url: str
    server: Installation

    def open(self, path: str, *, who: str = "", **headers: str) -> requests.Response:
        return requests.get(
            f"{self.url}{path}",
            headers={name.replace("_", "-"): text for name, text in headers.items()},
            cookies={"who": who},
            allow_redirects=False,
            timeout=60,
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    migrate(home)
    checks = ThreadingHTTPServer(("127.0.0.1", 0), Checks)
    Thread(target=checks.serve_forever, daemon=True).start()
    try:
        with (
            serving(home, **VARIABLES) as server,
            _nginx(home, server.url, checks.server_port) as url,
        ):
            yield Site(url, server)
    finally:
        checks.shutdown()
        checks.server_close()


@contextmanager
def _nginx(home: Path, server: str, checks: int) -> Iterator[str]:
    found = LOCATIONS.search(PAGE.read_text())
    assert found is not None
    locations = found[1]
    for old, new in {
        "127.0.0.1:8000": urlsplit(server).netloc,
        "127.0.0.1:9091": f"127.0.0.1:{checks}",
    }.items():
        assert old in locations
        locations = locations.replace(old, new)
    port = free_port()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {home}/{kind};\n" for kind in kinds)
    config = home / "nginx.conf"
    config.write_text(
        f"daemon off; master_process off; pid {home}/nginx.pid;\n"
        "error_log stderr warn; events {}\n"
        f"http {{ access_log off;\n{folders}"
        f"server {{ listen 127.0.0.1:{port};\n{locations}}} }}\n"
    )
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    assert program is not None, "run .ci/set-up-programs company"
    with (home / "nginx.log").open("wb") as log:
        process = subprocess.Popen([program, "-c", str(config)], stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        assert wait_for(lambda: status_of(f"{url}/api/v1/") > 0)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def test_somebody_who_signed_in_at_the_proxy_is_signed_in_here(site: Site) -> None:
    answer = site.open("/me.json", who="ann")

    assert answer.status_code == 200, answer.text
    assert answer.json()["name"] == "ann"
    assert answer.json()["email"] == "ann@example.com"


def test_others_are_led_to_the_sign_in_of_the_proxy(site: Site) -> None:
    answer = site.open("/tables/?q=a", who="")

    assert answer.status_code == 302
    place = f"https://auth.example.com/?rd={site.url}/tables/?q=a"
    assert answer.headers["Location"] == place


def test_a_person_without_the_group_is_refused(site: Site) -> None:
    assert site.open("/me.json", who="zoe").status_code == 403


def test_headers_of_a_client_are_replaced(site: Site) -> None:
    answer = site.open("/me.json", who="ann", **FORGED)
    assert answer.json()["name"] == "ann"
    refused = site.open("/me.json", who="zoe", **FORGED)
    assert refused.status_code == 403


def test_headers_of_a_client_do_not_sign_in_where_the_proxy_does_not(
    site: Site,
) -> None:
    for path in ("/api/v1/tables", "//api/v1/tables", "/api/../me.json", "/api/v1/me"):
        answer = site.open(path, **FORGED)
        assert answer.status_code in {302, 401, 404}, (path, answer.text)
        assert "zoe" not in answer.text


def test_a_key_of_the_person_works_without_the_proxy(site: Site) -> None:
    site.open("/me.json", who="ann")
    printed = site.server.command("user", "key", "ann", "--json")
    key = json.loads(printed)["key"]

    answer = site.open("/api/v1/tables", Authorization=f"Bearer {key}")

    assert answer.status_code == 200, answer.text
