"""Signing in and out at a real OpenID Connect provider."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE_MS, WINDOW
from tests.support.oidc.running import SECRET, provider_of_people
from tests.support.processes.installation import Installation, furnish, serving
from tests.support.processes.ports import free_port


@pytest.fixture(scope="module")
def company(
    tmp_path_factory: pytest.TempPathFactory, lake: Path
) -> Iterator[Installation]:
    """`deltaweb serve`, and a provider that sends people back to it."""
    home, port = tmp_path_factory.mktemp("home"), free_port()
    furnish(home, lake)
    with serving(
        home,
        DELTAWEB_OIDC_ISSUER=f"http://127.0.0.1:{port}",
        DELTAWEB_OIDC_CLIENT_ID="deltaweb",
        DELTAWEB_OIDC_CLIENT_SECRET=SECRET,
        DELTAWEB_OIDC_LABEL="the company",
        DELTAWEB_SSO_REQUIRED_GROUPS="data",
        DELTAWEB_WEB_PROCESSES="1",
        DELTAWEB_SPARK_AFTER_S="600",  # no table here needs it
    ) as installation:
        paths = ("/sign-in/sso/callback/", "/sign-in/sso/logout/", "/sign-in/")
        addresses = [f"{installation.url}{path}" for path in paths]
        with provider_of_people(*addresses, port=port):
            yield installation


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """A page of a browser that is signed in nowhere."""
    context = browser.new_context(viewport=WINDOW)
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


def sign_in_there(page: Page, name: str) -> None:
    """Fill in the form of the provider."""
    page.locator("input[name=login]").fill(name)
    page.locator("input[name=password]").fill("any")
    page.locator("button[type=submit]").click()


def test_a_person_signs_in_and_out_at_the_provider(
    stranger: Page, company: Installation
) -> None:
    stranger.goto(f"{company.url}/me/")
    stranger.get_by_role("link", name="Sign in with the company").click()
    sign_in_there(stranger, "ann")
    stranger.wait_for_url(f"{company.url}/me/")
    me = stranger.request.get(f"{company.url}/me.json").json()
    assert (me["name"], me["role"]) == ("ann", "viewer")

    stranger.get_by_text("Account: ann").locator("..").click()
    stranger.get_by_role("button", name="Sign out").click()
    stranger.locator("button[name=logout]").click()
    stranger.wait_for_url(f"{company.url}/sign-in/*")
    assert stranger.request.get(f"{company.url}/me.json").status == 401


def test_a_person_without_a_group_is_told_so(
    stranger: Page, company: Installation
) -> None:
    stranger.goto(f"{company.url}/sign-in/sso/")
    sign_in_there(stranger, "eve")
    expect(stranger.get_by_text("has no access here")).to_be_visible()
    stranger.goto(f"{company.url}/")
    expect(stranger.get_by_role("heading", name="Sign in")).to_be_visible()
