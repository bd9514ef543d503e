"""A checkpoint and a clean-up in a real browser: seen first, asked for, done."""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NoAnswerError

from tests.browser.conftest import Watch, expect_said, register
from tests.browser.soundness import (
    assert_open_is_sound,
    assert_sound,
    every_theme,
    serious_findings,
)
from tests.support.processes.installation import Installation, wait_for

NAME = "maintenance"
TABLE = f"/t/web/{NAME}/"
CHECKPOINT, CLEANUP = f"{TABLE}checkpoint", f"{TABLE}cleanup"
MAINTENANCE = f"{TABLE}maintenance"
UPDATE, PROPERTIES = f"{TABLE}update-rows", f"{TABLE}properties"
WITHIN_MS = 120_000
ANSWER_MS = 1_000
WEEK_S = 7 * 86_400
NEWEST = 21


@pytest.fixture(scope="module")
def folder(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registered and indexed table with one commit a week, and no checkpoint."""
    folder = tmp_path_factory.mktemp("lake") / NAME
    shutil.copytree(server.home / "samples" / "orders", folder)
    for path in (folder / "_delta_log").iterdir():
        if path.suffix == ".json":
            moment = time.time() - (NEWEST - int(path.stem)) * WEEK_S
            os.utime(path, (moment, moment))
        else:
            path.unlink()
    register(server, f"web.{NAME}", folder)
    return folder


@contextmanager
def hint_withheld(folder: Path) -> Iterator[None]:
    """Keep whoever writes a checkpoint waiting for `_last_checkpoint`."""
    handle = os.open(folder / "_delta_log", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def checkpoints(folder: Path) -> list[str]:
    found = (folder / "_delta_log").glob("*.checkpoint*.parquet")
    return sorted(path.name for path in found)


def ask_again(page: Page) -> None:
    """Let the live part be asked for, as news do; it may be exchanged meanwhile."""
    part = page.locator(".dw-job[id^=job-]")
    progress = re.compile("/jobs/[^/]+/progress")
    for _ in range(WITHIN_MS // ANSWER_MS):
        with suppress(NoAnswerError), page.expect_response(progress, timeout=ANSWER_MS):
            part.dispatch_event("news")
            return
    pytest.fail("The part was never asked for.")


@pytest.mark.usefixtures("folder")
@every_theme(
    [f"{TABLE}vacuum", UPDATE, PROPERTIES],
    seldom=[f"{CHECKPOINT}?version=3", CLEANUP],  # other tests look at what they tell
)
def test_every_page_is_sound_in_both_themes_and_on_a_phone(watch, server, path, theme):
    assert_sound(watch, f"{server.url}{path}", theme)


@pytest.mark.usefixtures("folder")
def test_the_folder_is_listed_without_a_reload(watch: Watch, server: Installation):
    page = watch.page
    page.goto(f"{server.url}{TABLE}")
    page.get_by_role("link", name="Maintenance", exact=True).click()
    expect_said(page, "never listed")
    page.get_by_role("button", name="List the folder").click()
    again = page.get_by_role("button", name="List again")
    expect(again).to_be_visible(timeout=WITHIN_MS)
    expect(page.locator(".dw-ledger")).to_be_visible()
    assert_sound(watch, f"{server.url}{MAINTENANCE}", "dark")


def test_a_checkpoint_is_asked_for_and_done_without_a_reload(watch, server, folder):
    page = watch.page
    page.goto(f"{server.url}{TABLE}")
    page.get_by_label("More actions").click()
    page.get_by_role("link", name="Checkpoint…").click()
    page.get_by_role("button", name="Show what would happen").click()
    expect_said(page, "none at or before version 21", within_ms=WITHIN_MS)
    expect(page.locator("#operation")).to_contain_text("22 commits")
    assert_open_is_sound(watch, CHECKPOINT)

    with hint_withheld(folder):
        # Before its own page is there, the chip of the page before says "running".
        with page.expect_event("domcontentloaded"):
            page.get_by_role("button", name="Write the checkpoint").click()
        running = page.get_by_role("status").filter(has_text="running").first
        expect(running).to_be_visible(timeout=WITHIN_MS)
        page.evaluate("window.notReloaded = true")
        # The live part replaces itself: what is around it stays.
        ask_again(page)
        ask_again(page)
        expect(page.locator(".dw-job[id^=job-]")).to_have_count(1)
        expect(page.locator("h1")).to_contain_text(NAME)
        assert serious_findings(page) == []

    expect_said(page, "has its checkpoint", within_ms=WITHIN_MS)
    assert page.evaluate("window.notReloaded") is True
    assert checkpoints(folder) == [f"{NEWEST:020d}.checkpoint.parquet"]
    assert_open_is_sound(watch, CHECKPOINT, "dark")


def test_what_has_expired_is_listed_and_then_deleted(watch, server, folder):
    server.command("table", "checkpoint", f"web.{NAME}", "--version", "9")
    page = watch.page
    page.goto(f"{server.url}{CLEANUP}")

    page.get_by_role("button", name="List what would be deleted").click()
    delete = page.get_by_role("button", name="Delete 9 files")
    expect(delete).to_be_visible(timeout=WITHIN_MS)
    page.get_by_text("The files, oldest first").click()
    expect_said(page, "00000000000000000008.json")
    assert (folder / "_delta_log" / "00000000000000000008.json").exists()
    assert_open_is_sound(watch, CLEANUP)
    page.get_by_label("This cannot be undone.").check()
    delete.click()

    expect_said(page, "0 to 8 can no longer be read", within_ms=WITHIN_MS)
    commits = sorted((folder / "_delta_log").glob("*.json"))
    assert commits[0].name == "00000000000000000009.json"
    expect_said(page, "9 gone", within_ms=WITHIN_MS)
    assert_open_is_sound(watch, CLEANUP, "dark")


def test_an_open_page_offers_a_version_that_came_since(watch, server, folder):
    page = watch.page
    page.goto(f"{server.url}{TABLE}data?sort=-order_id")
    expect(page.locator("#table-news")).to_be_attached()
    commit = folder / "_delta_log" / f"{NEWEST + 1:020d}.json"
    commit.write_text('{"commitInfo": {"operation": "WRITE"}}\n')

    told = page.get_by_text("Version 22 was just committed.").first

    def is_told() -> bool:
        # As when somebody comes back to the page: it then asks at once, by another
        # connection, of which a person may have so many.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        with suppress(NoAnswerError):
            told.wait_for(timeout=ANSWER_MS)
        return told.is_visible()

    assert wait_for(is_told, timeout_s=WITHIN_MS / 1000)
    expect(page.locator(".dw-meta")).to_contain_text("version 21")
    assert serious_findings(page) == []

    page.get_by_role("link", name="Show it").click()

    expect(page.locator(".dw-meta")).to_contain_text("version 22")
    expect(page).to_have_url(f"{server.url}{TABLE}data?sort=-order_id")
    expect(page.get_by_text("Version 22 was just committed.")).to_have_count(0)
    assert watch.faults == []


def test_the_head_follows_a_write_which_offers_its_rows_and_the_way_back(
    watch: Watch, server: Installation, folder: Path
) -> None:
    page = watch.page
    newest = NEWEST + len([*(folder / "_delta_log").glob("0*22.json")])
    page.goto(f"{server.url}{TABLE}delete-rows")
    page.get_by_label("Rows where").fill("order_id % 7 = 0")
    page.get_by_role("button", name="Show what would happen").click()
    delete = page.get_by_role("button", name=re.compile(r"Delete \d+ rows"))
    with page.expect_event("domcontentloaded", timeout=WITHIN_MS):
        delete.click(timeout=WITHIN_MS)
    page.evaluate("window.notReloaded = true")

    made = page.locator(".dw-meta").first
    expect(made).to_contain_text(f"version {newest + 1}", timeout=WITHIN_MS)
    assert page.evaluate("window.notReloaded") is True
    expect(page.get_by_text("rows deleted").first).to_be_visible()
    expect(page.get_by_role("link", name="The changed rows")).to_be_visible()
    expect(page.locator("[data-flag] text")).to_have_text(f"v{newest + 1}")
    assert serious_findings(page) == []

    page.get_by_role("button", name="Undo this commit").click()
    undo = page.get_by_role("button", name=f"Undo v{newest + 1}")
    expect(undo).to_be_visible(timeout=WITHIN_MS)
    assert serious_findings(page) == []
    undo.click()
    expect(made).to_contain_text(f"version {newest + 2}", timeout=WITHIN_MS)
    expect(page.get_by_text(f"Committed version {newest + 2}")).to_be_visible()
    assert watch.faults == []


@pytest.mark.usefixtures("folder")
def test_a_version_to_restore_is_picked_on_the_timeline_by_the_keyboard(
    watch: Watch, server: Installation
) -> None:
    page = watch.page
    page.goto(f"{server.url}{TABLE}restore?v=19")
    timeline = page.get_by_role("slider", name="Version to show")
    timeline.focus()
    for _ in range(7):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")

    expect(page).to_have_url(f"{server.url}{TABLE}restore?v=12")
    expect(page.get_by_role("radio", checked=True)).to_have_value("12")
    assert serious_findings(page) == []
    page.get_by_role("button", name="Show what would happen").click()
    restore = page.get_by_role("button", name="Restore v12")
    expect(restore).to_be_visible(timeout=WITHIN_MS)
    assert watch.faults == []
