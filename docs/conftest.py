"""Runs the code of README and the manual, as somebody does who reads from the top.

All pages stand in one folder, which has the sample tables in `lake`, registered as
`samples.orders` and so on; a page that changes a table makes one of its own. Blocks of
`sh` have to end with 0, and with what a block of `output` below them says; blocks of
`python` share a namespace a page. What needs another machine is left out by
`<!--- skip: next "why" -->` before the block. A page that says `$SERVER` has a server,
which serves that folder. A how-to whose every command is run by other pages, too, is of
`make test-all` alone.
"""

import atexit
import functools
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import (
    CodeBlockParser,
    PythonCodeBlockParser,
    SkipParser,
)

from deltaweb.samples import make_samples
from tests.support.processes.installation import environment, migrate, serving
from tests.support.processes.kept_commands import DJANGO, PROGRAM, KeptCommands

LIMIT_S: Final = 120
CAME_FROM: Final = "__came_from__"
SAID: Final = "__said__"
ON_SERVER: Final = "$SERVER"  # in pages whose commands ask a server
NO_WORKER: Final = 503
INDEX: Final = """
from apps.tables.models import Table
from tests.support.index.indexed_tables import index_table
for table in Table.objects.all():
    index_table(table)
"""  # as a worker would
NEWEST: Final = datetime(2026, 3, 31, 12, tzinfo=UTC)
HERE: Final = Path(__file__).parent
PATTERNS: Final = ("README.md", "manual/*.md", "manual/*/*.md")
LEFT_OUT: Final = re.compile(r"<!--- skip: next.*?-->\s*```.*?```", re.DOTALL)
COMMAND: Final = re.compile(r"\bdeltaweb ([a-z]+ [a-z-]+)")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave how-tos to `make test-all` whose commands pages before them run."""
    seldom = {*seldom_pages()}
    for item in items:
        if item.path in seldom:
            item.add_marker(pytest.mark.exhaustive)


def seldom_pages() -> Iterator[Path]:
    """The how-tos, read after all other pages, whose commands are known by then."""
    pages = [page for pattern in PATTERNS for page in sorted(HERE.glob(pattern))]
    known: set[str] = set()
    for page in sorted(pages, key=lambda page: page.parent.name == "how-to"):
        text = LEFT_OUT.sub("", page.read_text(encoding="utf-8"))
        commands = {*COMMAND.findall(text)}
        if page.parent.name == "how-to" and commands <= known:
            yield page
        known |= commands


@functools.cache
def workplace() -> Path:
    """Make the folder that all pages stand in, once a process."""
    folder = Path(tempfile.mkdtemp(prefix="deltaweb-manual-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make_samples(folder / "lake", NEWEST)
    home = folder / "home"
    home.mkdir(mode=0o700)
    migrate(home)
    tables = [(f"samples.{at.name}", str(at)) for at in (folder / "lake").iterdir()]
    kept = KeptCommands(home, environment(home))
    atexit.register(kept.close)
    kept.put_into(folder)
    for line in (
        (PROGRAM, "table", "add", *itertools.chain.from_iterable(tables)),
        (DJANGO, "shell", "--verbosity", "0", "--command", INDEX),
    ):
        done = kept.run(*line)
        assert done.returncode == 0, done.stderr
    return folder


@functools.cache
def server() -> str:
    """Serve from that folder, once a process; return where it answers."""
    home = workplace() / "home"
    started = serving(home, ready=NO_WORKER, WORKERS="0", DELTAWEB_WEB_PROCESSES="1")
    atexit.register(started.__exit__, None, None, None)
    return started.__enter__().url


def stand_there(namespace: dict[str, Any]) -> None:
    """Go there before a page, so that its Python finds what its commands left."""
    namespace[CAME_FROM] = Path.cwd()
    os.chdir(workplace())


def come_back(namespace: dict[str, Any]) -> None:
    """Leave it after the page: other tests know their files by where they began."""
    os.chdir(namespace[CAME_FROM])


def run_shell(example: Example) -> str | None:
    """Run a block of commands as somebody does who stands in the folder."""
    folder = workplace()
    variables = {"SERVER": server()} if ON_SERVER in example.document.text else {}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", str(example.parsed)],
        cwd=folder,
        env=environment(
            folder / "home",
            PATH=os.pathsep.join(
                [str(folder), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            **variables,
        ),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
    )
    example.namespace[SAID] = done.stdout
    return f"{done.stdout}\n{done.stderr}" if done.returncode else None


def compare_output(example: Example) -> str | None:
    """Tell whether the commands above end with what the page says."""
    said = example.namespace[SAID]
    return None if said.endswith(str(example.parsed)) else str(said)


pytest_collect_file = Sybil(
    parsers=[
        SkipParser(),
        PythonCodeBlockParser(),
        CodeBlockParser(language="sh", evaluator=run_shell),
        CodeBlockParser(language="output", evaluator=compare_output),
    ],
    patterns=PATTERNS,
    setup=stand_there,
    teardown=come_back,
).pytest()
