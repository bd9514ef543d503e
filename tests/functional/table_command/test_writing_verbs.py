"""Every verb that writes only looks when told so, and asks before it destroys."""

import hashlib
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.pages.command import WritingVerb
from apps.tables.management.commands.table import Command
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.command_line import Ran, Terminal
from tests.functional.table_command.commands import refusal, run, run_json
from tests.support import cases
from tests.support.files.aged_files import age
from tests.support.pages.factories import new_table

pytestmark = pytest.mark.django_db

VERBS = set(Command().described())
# What they keep is of the server alone: neither the table nor the catalogue changes.
READING = {
    *("changes", "check-files", "diff", "explain", "history", "list", "refresh"),
    *("rows", "show", "survey"),
}
# The arguments of each; words in braces are places of the workshop.
WRITING = {
    "add": ["shop.more", "{orders}"],
    "add-column": ["{orders}", "remark STRING"],
    "checkpoint": ["{orders}", "--version", "3"],
    "cleanup": ["{orders}"],
    "comment": ["{orders}", "all orders"],
    "constraint": ["{orders}", "add", "positive", "n > 0"],
    "convert": ["shop.parts", "{parts}"],
    "create": ["shop.visits", "{nothing}", "--schema", "id BIGINT"],
    "delete": ["{orders}", "--where", "n > 3"],
    "drop-column": ["{orders}", "note"],
    "import": ["{orders}", "{more}", "--mode", "overwrite"],
    "label": ["shop.orders", "--tag", "finance"],
    "merge": ["{orders}", "{more}", "--on", "t.n = s.n", "--update-all"],
    "optimize": ["{orders}"],
    "remove": ["shop.orders"],
    "rename": ["shop.orders", "shop.sales"],
    "rename-column": ["{orders}", "note", "remark"],
    "repeat": ["shop.orders", "optimize", "--every", "day"],
    "restore": ["{orders}", "--version", "1"],
    "scan": ["{lake}"],
    "schedule": ["shop.orders", "10m"],
    "set": ["{orders}", "team=blue"],
    "undo": ["{orders}", "2"],
    "unset": ["{orders}", "owner"],
    "update": ["{orders}", "--set", "n = n + 1"],
    "upgrade": ["{orders}", "--reader", "3", "--writer", "7"],
    "vacuum": ["{orders}"],
    "widen-column": ["{orders}", "n", "BIGINT"],
}
ASKING = {
    *("cleanup", "delete", "drop-column", "import", "merge", "remove", "restore"),
    *("undo", "update", "upgrade", "vacuum"),
}
# A protocol without lists of features, which can be raised.
LISTLESS = {"upgrade"}
FEATURES = ("checkConstraints", "columnMapping", "typeWidening")


@pytest.fixture
def workshop(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A table with a history and a file that nobody needs, and what else verbs take."""
    orders = tmp_path / "lake" / "orders"
    features = {f"delta.feature.{name}": "supported" for name in FEATURES}
    modes = {"delta.columnMapping.mode": "name", "delta.enableTypeWidening": "true"}
    is_listless = request.node.callspec.params["verb"] in LISTLESS
    columns = pa.schema([("n", pa.int32()), ("note", pa.string())])
    table = DeltaTable.create(
        str(orders),
        columns,
        properties={"owner": "ana", **({} if is_listless else {**features, **modes})},
    )
    for numbers in ([1, 2, 3], [4, 5]):
        notes = [None] * len(numbers)
        table.append(pa.table({"n": numbers, "note": notes}, columns))
    table.create_checkpoint()
    table.append(pa.table({"n": [6], "note": ["last"]}, columns))
    (orders / "orphan.parquet").write_bytes(b"of a writer that was killed")
    for file in [*orders.glob("*.parquet"), *orders.glob("_delta_log/*")]:
        age(file, days=90)
    new_table("shop.orders", location=str(orders))
    DeltaTable.create(str(tmp_path / "lake" / "other"), columns)
    (tmp_path / "parts").mkdir()
    pq.write_table(pa.table({"n": [1]}), tmp_path / "parts" / "a.parquet")
    (tmp_path / "more.csv").write_text("n,note\n1,one\n9,nine\n")
    return tmp_path


def line(verb: str, workshop: Path) -> list[str]:
    """Return a verb with its arguments."""
    places = {
        "lake": workshop / "lake",
        "orders": workshop / "lake" / "orders",
        "parts": workshop / "parts",
        "nothing": workshop / "visits",
        "more": workshop / "more.csv",
    }
    return [verb, *(argument.format(**places) for argument in WRITING[verb])]


def everything(workshop: Path) -> str:
    """Return a digest of all files, of the catalogue, the record and the jobs."""
    files = {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(workshop.rglob("*"))
        if file.is_file()
    }
    rows = [
        [str(row) for row in model.objects.order_by("pk").values_list()]
        for model in (Table, AuditEvent, Job)
    ]
    return json.dumps([files, rows])


def test_each_verb_writes_or_reads() -> None:
    command = Command()
    kinds = {verb: command.verb(verb) for verb in VERBS}
    written = {
        verb
        for verb, kind in kinds.items()
        if kind is None or issubclass(kind, WritingVerb)  # None is a change
    }

    assert written == set(WRITING)
    assert written | READING == VERBS


@pytest.mark.parametrize("verb", WRITING)
def test_a_verb_looks_when_told_so_and_asks_where_it_destroys(
    verb: str, workshop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, words = everything(workshop), line(verb, workshop)

    text, told = run(*words, "--dry-run"), run_json(*words, "--dry-run", "--yes")

    assert text.strip()
    assert isinstance(told, dict)
    assert everything(workshop) == before
    if verb in ASKING:
        monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
        assert "there is no terminal to ask" in refusal(*words, code=2)
        monkeypatch.setattr("sys.stdin", Terminal("no\n"))
        assert "Nothing was changed" in refusal(*words)
        assert everything(workshop) == before
        words.append("--yes")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    run(*words)
    assert everything(workshop) != before


@cases(
    "verb, said",
    {
        "delete": ("delete", "Would delete 3 rows in 2 files of 3"),
        "update": ("update", "Would change 6 rows in 3 files of 3"),
        "merge": ("merge", "Would change 1 row in 1 file of 3"),
        "drop-column": ("drop-column", "Would commit version 4, DROP"),
        "restore": ("restore", "would be restored, 2 files"),
        "vacuum": ("vacuum", "Would delete 1 file (27 B)"),
        "cleanup": ("cleanup", "Would delete "),
        "import": ("import", "would get 2 rows; 0 do not fit"),
    },
)
def test_the_question_says_what_would_happen(verb, said, workshop, monkeypatch):
    before = everything(workshop)
    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))

    asked = Ran("table", *line(verb, workshop)).stderr

    assert said in asked
    assert asked.rstrip().endswith("[y/N]")
    assert everything(workshop) != before


@pytest.mark.parametrize("verb", ["delete", "update"])
def test_nobody_is_asked_about_no_row(verb, workshop, monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal(""))

    words = line(verb, workshop)[: 4 if verb == "update" else 2]
    said = run(*words, "--where", "n > 100")

    assert said == "Nothing to do: the table is as it was.\n"


@pytest.mark.parametrize("verb", ["vacuum"])
def test_a_vacuum_takes_the_option_of_earlier_releases(verb: str, workshop: Path):
    orders = workshop / "lake" / "orders"

    listed = run(verb, orders, "--dry-run")

    assert listed == run(verb, orders, "--execute", "--dry-run")
    assert "orphan.parquet" in listed
    assert run(verb, orders, "--execute", "--yes").startswith("Deleted 1 file")


@pytest.mark.parametrize(
    "words", [["import", "{table}", "{file}"], ["delete", "{table}", "--yes"]]
)
def test_a_table_that_others_share_is_no_folder_of_ours(words, tmp_path: Path) -> None:
    profile, file = tmp_path / "acme.share", tmp_path / "a.csv"
    nobody = {"endpoint": "http://127.0.0.1:9/", "bearerToken": "t"}
    profile.write_text(json.dumps({"shareCredentialsVersion": 1, **nobody}))
    file.write_text("n\n1\n")
    table = f"{profile}#retail.sales.orders"

    asked = [word.format(table=table, file=file) for word in words]

    assert "cannot be reached" in refusal(*asked)
    assert sorted(tmp_path.iterdir()) == [file, profile]
