"""A real provider, and a person who signs in at it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Final, cast
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
import requests
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings

from apps.accounts.sign_on import provider as asked
from tests.support.oidc.running import SECRET, provider_of_people

HOST: Final = "http://testserver"
_ACTION: Final = re.compile(r'action="([^"]+)"')
_XSRF: Final = re.compile(r'name="xsrf" value="([^"]+)"')


@dataclass
class Provider:
    """A provider, with the logout tokens that it sent."""

    issuer: str
    tokens: list[str] = field(default_factory=list)


@dataclass
class Walker:
    """A browser with the cookies of both sides; `client` is for deltaweb."""

    client: Client = field(default_factory=Client)
    there: requests.Session = field(default_factory=requests.Session)

    def begin(self, path: str = "/sign-in/sso/") -> str:
        """Return the address at the provider that deltaweb leads to."""
        return str(self.client.get(path)["Location"])

    def walk(self, address: str, login: str) -> str:
        """Sign in at the provider; return the path that it leads back to."""
        answer = self.there.get(address, allow_redirects=False)
        for _ in range(9):
            if location := answer.headers.get("Location"):
                address = urljoin(answer.url, location)
                if address.startswith(HOST):
                    return address.removeprefix(HOST)
                answer = self.there.get(address, allow_redirects=False)
            else:
                form = {"prompt": "login", "login": login, "password": "any"}
                action = _ACTION.search(answer.text)
                assert action, answer.text[:500]
                url = urljoin(answer.url, action[1])
                answer = self.there.post(url, form, allow_redirects=False)
        raise AssertionError(answer.text)

    def sign_in(self, login: str, path: str = "/sign-in/sso/") -> HttpResponse:
        """Walk from deltaweb to the provider and back; return the last answer."""
        answer = self.client.get(self.walk(self.begin(path), login))
        return cast("HttpResponse", answer)

    def sign_out_there(self, address: str) -> None:
        """Agree to sign out, at the provider."""
        page = self.there.get(address)
        found, action = _XSRF.search(page.text), _ACTION.search(page.text)
        assert found, page.text[:500]
        assert action
        self.there.post(
            urljoin(page.url, action[1]),
            {"xsrf": found[1], "logout": "yes"},
            allow_redirects=False,
        )


@pytest.fixture(scope="package")
def running() -> Iterator[Provider]:
    tokens: list[str] = []

    class Catcher(BaseHTTPRequestHandler):
        """Keeps the logout tokens that the provider sends."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            tokens.extend(parse_qs(body)["logout_token"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Catcher)
    Thread(target=server.serve_forever, daemon=True).start()
    logout_uri = f"http://127.0.0.1:{server.server_address[1]}/"
    addresses = (f"{HOST}/sign-in/sso/callback/", logout_uri, f"{HOST}/sign-in/")
    with provider_of_people(*addresses) as issuer:
        yield Provider(issuer, tokens)
    server.shutdown()
    server.server_close()


@pytest.fixture
def provider(running: Provider, settings: Settings) -> Provider:
    running.tokens.clear()
    asked.forget()
    settings.OIDC_ISSUER = running.issuer
    settings.OIDC_CLIENT_ID = "deltaweb"
    settings.OIDC_CLIENT_SECRET = SECRET
    settings.PUBLIC_URL = HOST
    settings.HAS_SIGN_ON = True
    settings.SSO_REQUIRED_GROUPS = ["data"]
    settings.AUTHENTICATION_BACKENDS = [
        *settings.AUTHENTICATION_BACKENDS,
        "apps.accounts.sign_on.oidc.Backend",
    ]
    return running


@pytest.fixture
def walker(provider: Provider) -> Walker:
    assert urlsplit(provider.issuer).hostname == "127.0.0.1"
    return Walker()
