"""How soon a click is answered: `python -m tests.benchmarks answers`.

Chromium follows links of a real installation, `deltaweb serve` with all its processes,
at once: nothing is fetched ahead. A time is that from the click until what was asked
for is painted, by the page's own clock: what drives the browser puts a script of its
own into each page and looks there, which takes 0.1 s that nobody else waits for. No
question was asked before, unless the row says so. Tables of ten files are in a folder,
and on an S3 server that is `REQUEST_S` away. People at once come to PostgreSQL and
Redis where `tests.servers` gives them: each opens rows that nobody has read yet, within
a time in which every one of them asks once, and asks for the part that waits as the
page does.
"""

import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from playwright.sync_api import Page, sync_playwright

from deltaweb.table import DeltaTable
from tests.benchmarks.bench_news import SESSIONS
from tests.support.pages.browser_sign_in import sign_in
from tests.support.processes.installation import (
    Installation,
    manage,
    migrate,
    serving,
    wait_for,
)
from tests.support.processes.node import NODE
from tests.support.stores.s3_server import running_s3

NUM_FILES = 10
NUM_ROWS = 2_000  # of a file
NUM_CLICKS = 30
P95 = 0.95
REQUEST_S = 0.02
NUM_PEOPLE = 100
WITHIN_S = 10.0
JOB_END = re.compile(rb"job-end:[0-9a-f-]+@[0-9]+")
SETTLED_MS = 500  # charts are drawn by then
PATIENCE_MS = 60_000
TABLE = "/t/default/orders"
SHOW = re.compile("Show what would happen|Preview again")
TAB = ".dw-tabs a:text-is('{}')"
COMMIT = "h3.dw-day"
FIRST_ROW = "#rows table tbody tr, table.dw-grid-t tbody tr"
# Of each document: says how long ago it was begun, or clicked on, once an element is
# painted that the window's name tells of. What came before that was named is no answer.
NOTING = r"""(() => {
    let begin = 0;
    addEventListener("click", (event) => { begin = event.timeStamp; }, true);
    const look = () => {
        if (!window.name) return;
        const [css, text, named] = JSON.parse(window.name);
        if (performance.timeOrigin + begin < named) return;
        const isThere = [...document.querySelectorAll(css)].some((one) =>
            new RegExp(text).test(one.textContent.replace(/\s+/g, " ").trim())
            && one.checkVisibility());
        if (!isThere) return;
        window.name = "";
        requestAnimationFrame(() => setTimeout(
            () => console.log(`shown after ${performance.now() - begin}`)));
    };
    new MutationObserver(look).observe(
        document, {subtree: true, childList: true, attributes: true});
    addEventListener("load", look);
})()"""
NAMING = """wanted => {
    const now = performance.timeOrigin + performance.now();
    window.name = JSON.stringify([...wanted, now]);
}"""


def main(*words: str) -> None:
    """Measure every page, or with `people` those of many at once, beside its goal."""
    os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", str(NODE))
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as folder:
        home, lake = Path(folder) / "home", Path(folder) / "lake"
        home.mkdir(mode=0o700)
        newest = _make_table(lake / "orders")
        if "people" in words:
            missed = _measure_people(home, lake, newest)
        else:
            missed = _measure_one(home, lake, newest)
            servers = (sys.executable, "-m", "tests.servers")
            own = (sys.executable, "-m", "tests.benchmarks", "answers", "people")
            missed += subprocess.run([*servers, *own], check=False).returncode
    if missed:
        sys.exit(f"{missed} rows missed their goal.")


def _measure_one(home: Path, lake: Path, newest: int) -> int:
    """Measure what one person waits for."""
    migrate(home)
    with (
        running_s3(answers_after_s=REQUEST_S) as s3,
        serving(home, LAKE=str(lake)) as running,
    ):
        bucket = s3.new_bucket()
        s3.upload(lake / "orders", bucket, "orders")
        options = [f"--option={text}" for text in s3.option_texts]
        place = f"s3://{bucket}/"
        running.command("storage", "add", "far", "--prefix", place, *options)
        running.command("table", "add", "default.far", f"{place}orders")
        assert wait_for(lambda: _is_indexed(running, 2), timeout_s=200), running.log
        with _chromium(running) as page:
            return _measure(running, page, newest)


def _measure_people(home: Path, lake: Path, newest: int) -> int:
    """Measure what each of many waits for who come within a while."""
    names = ("DELTAWEB_DATABASE_URL", "DELTAWEB_BROKER_URL")
    variables: dict[str, Any] = {name: os.environ[name] for name in names}
    with serving(home, LAKE=str(lake), **variables) as running:
        told = manage(
            home, "shell", "-c", SESSIONS.format(count=NUM_PEOPLE), **variables
        )
        lines = told.stdout.splitlines()
        keys = [line.split()[1] for line in lines if "session " in line]

        def is_indexed() -> bool:
            return b'"INDEXED"' in _asked(running, keys[0], "/tables.json")

        assert wait_for(is_indexed, timeout_s=200), running.log

        def ask(number: int) -> float:
            time.sleep(random.Random(number).uniform(0, WITHIN_S))
            version = newest - number % NUM_CLICKS
            path = f"{TABLE}/data?v={version}&f=id:ge:{number}"
            return _rows_s(running, keys[number], path)

        with ThreadPoolExecutor(NUM_PEOPLE) as pool:
            times = [*pool.map(ask, range(NUM_PEOPLE))]
    label = f"{NUM_PEOPLE} people within {WITHIN_S:.0f} s"
    return _row(label, times.__getitem__, range(NUM_PEOPLE), 1.0, 1.0)


def _rows_s(running: Installation, key: str, path: str) -> float:
    """Ask for a page until it has its rows; a page that waits hears of them."""
    start = time.perf_counter()
    text = _asked(running, key, path)
    while b"dw-grid-t" not in text:
        topic = JOB_END.search(text)
        assert topic is not None, text
        with _answer(running, key, f"/news?on={topic[0].decode()}") as news:
            while b"job-end" not in news.readline():
                pass
        text = _asked(running, key, path, {"HX-Request": "true"})
    return time.perf_counter() - start


def _asked(
    running: Installation, key: str, path: str, headers: Mapping[str, str] = {}
) -> bytes:
    with _answer(running, key, path, headers) as answer:
        return answer.read()


@contextmanager
def _answer(
    running: Installation, key: str, path: str, headers: Mapping[str, str] = {}
) -> Iterator[HTTPResponse]:
    address = urlsplit(running.url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=60)
    with closing(connection):
        own = {"Cookie": f"deltaweb_session={key}", **headers}
        connection.request("GET", path, headers=own)
        answer = connection.getresponse()
        assert answer.status == HTTPStatus.OK, answer.status
        yield answer


def _measure(running: Installation, page: Page, newest: int) -> int:
    """Measure page after page; return how many missed their goal."""
    versions = range(newest, newest - NUM_CLICKS, -1)
    url = f"{running.url}{TABLE}"

    def first_rows(version: int) -> float:
        return _followed_s(page, f"{url}/?v={version}", TAB.format("Data"), FIRST_ROW)

    def next_rows(number: int) -> float:
        page.goto(f"{url}/data?v={newest}&page={number}")
        page.wait_for_selector(FIRST_ROW)
        link = page.get_by_role("link", name="Next", exact=True)
        shown = "nav[aria-label=Pages] span"
        return _shown_s(page, link.click, shown, f"^page {number + 1}$")

    def compared(version: int) -> float:
        link = f"a[href*='/compare/{version - 1}...{version}']:not([href*='view='])"
        return _followed_s(page, f"{url}/history/{version}", link, "h2", "^Files$")

    def looked_into(number: int) -> float:
        link = f"a[href*='{files[number]}']"
        return _followed_s(page, f"{url}/files", link, "#file", "row group")

    def dry_run(number: int) -> float:
        page.goto(f"{url}/delete-rows")
        page.get_by_label("Rows where").fill(f"id < {100 + number}")
        button = page.get_by_role("button", name=SHOW)
        return _shown_s(page, button.click, "main", f"Delete {100 + number} rows")

    def far_rows(version: int) -> float:
        far = f"{running.url}/t/default/far/?v={version}"
        return _followed_s(page, far, TAB.format("Data"), FIRST_ROW)

    def without_job(version: int) -> float:
        return _followed_s(
            page, f"{url}/data?v={version}", TAB.format("History"), COMMIT
        )

    def opened(number: int) -> float:
        address = f"{url}/history?q={number}"
        return _shown_s(
            page, lambda: page.goto(address, wait_until="commit"), "main h1"
        )

    missed = _row("a page loaded whole, beside", opened, range(NUM_CLICKS), 0.15)
    missed += _row("a page without a job, beside", without_job, versions, 0.15)
    missed += _row("click to the first row", first_rows, versions, 0.15, 0.3)
    label = f"the same, on S3 at {1000 * REQUEST_S:.0f} ms a request"
    missed += _row(label, far_rows, versions, 0.5)
    missed += _row("next page of rows", next_rows, range(1, 30), 0.1)
    missed += _row("compare two versions", compared, versions, 0.2)
    page.goto(f"{url}/files")
    names = page.locator("a[href*='/files/']").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    files = [*dict.fromkeys(names)][:NUM_FILES]
    missed += _row("a Parquet page", looked_into, range(len(files)), 0.15)
    return missed + _row("dry run of a delete", dry_run, range(NUM_CLICKS), 0.3)


def _row(label, measure, numbers, goal_s, goal_p95_s=None):
    """Measure clicks and print their median; tell whether it missed its goal."""
    times = sorted(measure(number) for number in numbers)
    median_s, p95_s = statistics.median(times), times[int(len(times) * P95) - 1]
    is_missed = median_s > goal_s or (goal_p95_s is not None and p95_s > goal_p95_s)
    bound = f", {goal_p95_s:g} s" if goal_p95_s else ""
    print(
        f"{'MISS' if is_missed else 'ok  '} {label:36} {median_s:6.3f} s,"
        f" p95 {p95_s:6.3f} s; goal {goal_s:g} s{bound}",
        flush=True,
    )
    return int(is_missed)


def _followed_s(page: Page, url: str, link: str, css: str, text: str = "") -> float:
    """Follow a link of a page, and return how long something takes to be there."""
    page.goto(url)
    page.wait_for_timeout(SETTLED_MS)
    return _shown_s(page, page.locator(link).first.click, css, text)


def _shown_s(page: Page, act: Callable[[], object], css: str, text: str = "") -> float:
    """Return how long after an act an element with a text is painted."""
    page.evaluate(NAMING, [css, text])
    with page.expect_console_message(lambda said: "shown after" in said.text) as said:
        act()
    return float(said.value.text.split()[-1]) / 1000


@contextmanager
def _chromium(running: Installation) -> Iterator[Page]:
    executable = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(NOTING)
        sign_in(page, running)
        yield page
        browser.close()


def _is_indexed(running: Installation, num_tables: int) -> bool:
    tables = json.loads(running.command("table", "list", "--json"))
    return [table["state"] for table in tables] == ["INDEXED"] * num_tables


def _make_table(place: Path) -> int:
    """Make a table of `NUM_FILES` files in each of many versions; return the newest."""
    table = DeltaTable.create(str(place), _rows(0).schema)
    for number in range(NUM_FILES):
        table.append(_rows(number))
    for number in range(NUM_CLICKS):  # one file is another in each
        row = number % NUM_FILES * NUM_ROWS + number
        table.update({"total": "total + 1"}, where=f"id = {row}")
    return NUM_FILES + NUM_CLICKS


def _rows(number: int) -> pa.Table:
    """The rows of a file."""
    ids = range(number * NUM_ROWS, (number + 1) * NUM_ROWS)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "country": [f"C{one % 50}" for one in ids],
            "total": [one / 7 for one in ids],
        }
    )
