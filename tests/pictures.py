"""The pictures of the manual and README: `make pictures` takes all of them again.

Chromium opens pages of `deltaweb serve` with the sample tables, two shares, their
recipients and a few reads of the real client. Each page is taken in both themes; the
manual shows the picture in the reader's theme. The sample tables are in `/data/lake`,
because pages show that location, and a temporary folder would look odd in the manual.
"""

import base64
import json
import os
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deltaweb.samples import make_samples
from tests.support.pages.browser_sign_in import sign_in
from tests.support.processes.installation import ROOT, Installation, serving, wait_for
from tests.support.processes.node import NODE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FOLDER = ROOT / "docs" / "manual" / "pictures"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDTH, HEIGHT = 1200, 750
QUALITY = 82
PATIENCE_MS = 60_000
LAKE = Path("/data/lake")
WHERE = "country = 'DE' AND amount > 250 AND CAST(items AS STRING) = '3'"
ORDERS, CUSTOMERS = "/t/samples/orders", "/t/samples/customers"


@dataclass(frozen=True)
class Picture:
    """A page of the samples: its address, and what is on it once it is whole."""

    name: str
    address: str
    shows: str
    height: int = HEIGHT


PICTURES = (
    Picture("catalogue", "/tables/", "main table"),
    Picture("overview", ORDERS, "main .main-svg"),
    Picture("data", f"{ORDERS}/data?f=country:eq:DE&sort=-amount", "table.dw-grid-t"),
    Picture("schema", f"{ORDERS}/schema", "main th:has-text('Most frequent')"),
    Picture("profile", f"{ORDERS}/schema/amount", "[data-chart=histogram] .main-svg"),
    Picture("what-changed", "/what-changed/", "main article"),
    Picture("health", "/health/", "main article"),
    Picture("history", f"{CUSTOMERS}/history", "main .main-svg"),
    Picture("commit", f"{CUSTOMERS}/history/59", "main h1"),
    Picture("compare", f"{CUSTOMERS}/compare/40...59", "main h2"),
    Picture("files", f"{ORDERS}/files", "main h1"),
    Picture("skipping", f"{ORDERS}/skipping?where={WHERE}", ".x-funnel", 900),
    Picture("maintenance", f"{ORDERS}/maintenance", "main h1"),
    Picture("readers", "/t/samples/device_readings/readers", "main h1"),
    Picture("share", "/shares/shop", "main h1"),
    Picture("what-they-see", "{part}?as=tailspin", ".s-proof", 1020),
    Picture("recipient", "/recipients/initech", "main h1"),
    Picture("activation", "{activation}", "main h1"),
    Picture("portal", "/portal/", "main h1"),
    Picture("activity", "/activity/", "main h1"),
    Picture("usage", "/recipients/initech/usage", "main h1"),
)


def main(*names: str) -> None:
    """Take all pictures, or those that are named."""
    os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(NODE))
    with (
        sample_lake(LAKE) as tables,
        tempfile.TemporaryDirectory(prefix="deltaweb-pictures-") as folder,
        _serving_no_samples(Path(folder)) as running,
        _chromium() as browser,
    ):
        _register(running, tables)
        places = _share(running, Path(folder))
        cookies = _signed_in(browser, running, places["portal"])
        FOLDER.mkdir(exist_ok=True)
        for theme in THEMES:
            context = browser.new_context(
                storage_state=cookies, color_scheme=theme, base_url=running.url
            )
            context.set_default_timeout(PATIENCE_MS)
            for picture in PICTURES:
                if not names or picture.name in names:
                    address = picture.address.format(**places)
                    data = _taken(context.new_page(), address, picture)
                    (FOLDER / f"{picture.name}-{theme}.webp").write_bytes(data)
            context.close()


@contextmanager
def sample_lake(lake: Path) -> Iterator[list[tuple[str, Path]]]:
    """Make the sample tables in a folder for as long as the context lasts.

    The folder has to be empty or creatable, so that nobody's tables are touched.

    Returns:
        The name and the location of each table.
    """
    missing = [folder for folder in (lake, *lake.parents) if not folder.exists()]
    try:
        lake.mkdir(parents=True, exist_ok=True)
        is_empty = not any(lake.iterdir())
    except OSError as error:
        sys.exit(
            f"The pictures show tables in {lake}, which cannot be made: {error}. "
            f'Make it for your user, e.g. sudo install -d -o "$USER" {lake}'
        )
    if not is_empty:
        sys.exit(
            f"The pictures show tables in {lake}, which is not empty. Move it away."
        )
    try:
        yield [
            (f"{table.namespace}.{table.name}", Path(table.location))
            for table in make_samples(lake, datetime.now(UTC))
        ]
    finally:
        for folder in lake.iterdir():
            shutil.rmtree(folder)
        for folder in missing:  # the deepest one first
            folder.rmdir()


@contextmanager
def _serving_no_samples(home: Path) -> Iterator[Installation]:
    (home / "samples-registered").touch()  # as if they had been, and were removed
    with serving(home, DELTAWEB_BROWSER_READING="true") as running:
        yield running


def _register(running: Installation, tables: Sequence[tuple[str, Path]]) -> None:
    for name, location in tables:
        running.command("table", "add", name, str(location))

    def are_indexed() -> bool:
        listed = json.loads(running.command("table", "list", "--json"))
        return [one["state"] for one in listed] == ["INDEXED"] * len(tables)

    assert wait_for(are_indexed, timeout_s=200), running.log


def _share(running: Installation, folder: Path) -> dict[str, str]:
    """Make three shares, let a recipient read one, and return addresses of pages."""
    for words in (
        "share create shop --comment 'Orders of the web shop'",
        "share add-table shop sales.orders --table samples.orders",
        "share add-table shop sales.returns --table samples.returns --no-history",
        "share create people --comment 'Customers, as partners see them'",
        "share add-table people crm.customers --table samples.customers",
        "share create partners --comment 'Orders, a country each'",
        (
            "share add-table partners sales.orders --table samples.orders"
            " --where 'country = recipient.country'"
        ),
        "share add-table partners crm.customers --table samples.customers",
        "share browser partners",
        "recipient create wingtip --share partners --property country=FR",
        "recipient create fabrikam --share partners",
        f"recipient create initech --share shop --profile {folder}/initech.share",
    ):
        running.command(*shlex.split(words))
    tailspin = ("tailspin", "--share", "partners", "--property", "country=DE")
    links = [
        next(word for word in made.split() if "/activate/" in word)
        for made in (
            running.command("recipient", "create", "globex", "--share", "people"),
            running.command("recipient", "create", *tailspin),
        )
    ]
    running.command("share", "prepare", "partners", "--prove")
    _read(folder / "initech.share", ("sales.orders", "sales.returns", "sales.orders"))
    partners = json.loads(running.command("share", "show", "partners", "--json"))
    orders = next(one for one in partners["tables"] if one["name"] == "sales.orders")
    return {
        "activation": links[0],
        "portal": links[1],
        "part": f"/shares/partners/tables/{orders['id']}/seen",
    }


def _read(profile: Path, tables: Sequence[str]) -> None:
    import delta_sharing

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the client's own libraries warn of
        for table in tables:
            delta_sharing.load_as_pandas(f"{profile}#shop.{table}", limit=100)


def _signed_in(browser: "Browser", running: Installation, link: str):
    """Sign in as an administrator, and by a link as a recipient; profile a table."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    sign_in(page, running)
    page.goto(f"{running.url}{ORDERS}/schema")
    page.get_by_role("button", name="Profile all columns").click()
    page.get_by_role("columnheader", name="Most frequent").wait_for()
    page.goto(link)
    page.get_by_role("button", name="Open in the browser").click()
    page.wait_for_url("**/portal/")
    cookies = context.storage_state()
    context.close()
    return cookies


def _taken(page: "Page", address: str, picture: Picture) -> bytes:
    page.set_viewport_size({"width": WIDTH, "height": picture.height})
    answer = page.goto(address)
    assert answer is not None
    assert answer.ok, f"{address}: {page.inner_text('main')}"
    page.wait_for_selector(picture.shows)
    page.wait_for_load_state("load")
    page.evaluate("document.fonts.ready")
    protocol = page.context.new_cdp_session(page)
    taken = protocol.send(
        "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
    )
    page.close()
    return base64.b64decode(taken["data"])


@contextmanager
def _chromium() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    executable = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
