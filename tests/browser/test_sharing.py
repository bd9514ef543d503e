"""The journey of a share: made, handed over, read, seen, rotated, revoked."""

import json
import re
from pathlib import Path

import requests
from playwright.sync_api import Browser, Page, expect

from deltaweb.table import DeltaTable
from tests.browser.conftest import Watch
from tests.browser.soundness import assert_open_is_sound, assert_sound
from tests.support.processes.installation import Installation

SHARE = "retail"
RECIPIENT = "globex-analytics"


def make_share(page: Page, server: Installation) -> None:
    """Make the share with the wizard: a table under another name, whole history."""
    page.goto(f"{server.url}/shares/new")
    page.get_by_label("Name of the share").fill(SHARE)
    page.get_by_role("button", name="Next: tables").click()
    page.get_by_label("Search the catalog").fill("orders")
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_role("button", name=re.compile("Add.*samples.orders")).click()
    page.get_by_label("Schema").fill("sales")
    page.get_by_role("button", name="Next: recipients").click()
    page.get_by_role("button", name="Next: what they see").click()
    page.get_by_role("button", name="Next: review").click()
    expect(page.locator("main")).to_contain_text(f"{SHARE}.sales.orders")
    page.get_by_role("button", name="Create the share").click()
    page.wait_for_url(f"**/shares/{SHARE}/")


def make_recipient(page: Page, server: Installation) -> str:
    """Make a recipient who reads the share, and return the activation link."""
    page.goto(f"{server.url}/recipients/new")
    page.get_by_label("Name", exact=True).fill(RECIPIENT)
    page.get_by_label(SHARE, exact=True).check()
    page.get_by_role("button", name="Make the recipient and its link").click()
    link = page.locator("#link").inner_text()
    page.get_by_label("I have copied it").check()
    page.get_by_role("button", name="Done").click()
    page.wait_for_url(f"**/recipients/{RECIPIENT}/")
    return link


def rotate(page: Page, server: Installation) -> str:
    """Rotate the recipient's token, and return the new link."""
    page.goto(f"{server.url}/recipients/{RECIPIENT}/")
    page.get_by_role("link", name="Rotate").first.click()
    page.get_by_role("button", name="Rotate and make the link").click()
    link = page.locator("#link").inner_text()
    page.get_by_label("I have copied it").check()
    page.get_by_role("button", name="Done").click()
    page.wait_for_url(f"**/recipients/{RECIPIENT}/")
    return link


def activate(browser: Browser, link: str, folder: Path) -> Path:
    """Open a link as its recipient, who has no account, and fetch the profile."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download profile").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    context.close()
    return path


def test_a_share_is_made_handed_over_read_rotated_and_revoked(
    watch: Watch, server: Installation, browser: Browser, tmp_path: Path
) -> None:
    page = watch.page
    make_share(page, server)
    link = make_recipient(page, server)

    # The recipient downloads the profile once, and reads as its client does.
    profile = activate(browser, link, tmp_path)
    assert profile.name == f"{RECIPIENT}.share"
    assert requests.get(link, timeout=60).status_code == 410
    table = DeltaTable(str(server.home / "samples" / "orders")).snapshot()
    assert num_files_for(server, profile) == table.num_files

    # The administrator sees it.
    page.goto(f"{server.url}/activity/?recipient={RECIPIENT}")
    expect(page.locator("main")).to_contain_text("read data")
    page.goto(f"{server.url}/t/samples/orders/sharing")
    expect(page.locator("main")).to_contain_text(RECIPIENT)

    # A rotation keeps the old token for a while, and says that it still is in use.
    second = activate(browser, rotate(page, server), tmp_path / "second")
    for one in (profile, second):
        assert status_with(server, one) == 200
    page.goto(f"{server.url}/recipients/{RECIPIENT}/")
    expect(page.locator("main")).to_contain_text("Not safe to revoke")

    # A revoked token is refused at once; the other one goes on.
    page.get_by_role("link", name="Revoke").last.click()
    page.get_by_role("button", name="Revoke").click()
    page.wait_for_url(f"**/recipients/{RECIPIENT}/")
    assert status_with(server, profile) == 401
    assert status_with(server, second) == 200
    assert watch.foreign == []
    assert watch.faults == []

    assert_sound(watch, f"{server.url}/shares/")
    assert_sound(watch, f"{server.url}/shares/{SHARE}/", "dark")
    assert_sound(watch, f"{server.url}/shares/{SHARE}/settings")
    assert_sound(watch, f"{server.url}/activity/", "dark")
    assert_sound(watch, f"{server.url}/t/samples/orders/sharing")


def test_the_wizard_ends_with_the_link_of_a_new_recipient(
    watch: Watch, server: Installation, browser: Browser, tmp_path: Path
) -> None:
    page = watch.page
    page.goto(f"{server.url}/shares/new")
    page.get_by_label("Name of the share").fill("emea")
    page.get_by_role("button", name="Next: tables").click()
    page.get_by_label("Namespace", exact=True).select_option("samples")
    page.get_by_role("button", name="Add all its tables").click()
    expect(page.locator("main")).to_contain_text("tables of samples were added")
    assert_open_is_sound(watch, "tables of a new share")
    page.get_by_role("button", name="Next: recipients").click()
    page.get_by_label("Name", exact=True).fill("initech")
    page.get_by_label("Token valid for: another span or date").fill("45d")
    page.get_by_role("button", name="Add to the share").click()
    expect(page.locator("main")).to_contain_text("token valid for 45d")
    assert_open_is_sound(watch, "recipients of a new share", "dark")
    assert_sound(watch, f"{server.url}/shares/new?step=review&ask=discard")
    page.get_by_role("link", name="Keep it").click()
    page.get_by_role("button", name="Create the share").click()
    link = page.locator("#link-1").inner_text()
    page.get_by_label("I have copied it").check()
    page.get_by_role("button", name="Done").click()
    page.wait_for_url("**/shares/emea/")

    profile = activate(browser, link, tmp_path)

    assert status_with(server, profile) == 200
    assert watch.foreign == []
    assert watch.faults == []


def status_with(server: Installation, profile: Path) -> int:
    """What the protocol answers to a profile's token."""
    shares = f"{server.url}/delta-sharing/shares"
    return requests.get(shares, headers=bearer(profile), timeout=60).status_code


def num_files_for(server: Installation, profile: Path) -> int:
    """How many files of the shared table the protocol gives to a profile's token."""
    table = f"{server.url}/delta-sharing/shares/{SHARE}/schemas/sales/tables/orders"
    asked = requests.post(
        f"{table}/query", json={}, headers=bearer(profile), timeout=60
    )
    return len(asked.text.splitlines()) - 2  # protocol and metadata


def bearer(profile: Path) -> dict[str, str]:
    return {"Authorization": f"Bearer {json.loads(profile.read_text())['bearerToken']}"}
