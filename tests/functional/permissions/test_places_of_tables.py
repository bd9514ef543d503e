"""A place of a table that a person may not see is answered as one where nothing is."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.models import Job
from apps.pages.actions import command_stamp
from apps.tables.access.granting import Privacy, set_privacy
from apps.tables.catalogue.registration import (
    TableSettings,
    describe_table,
    register_table,
    rename_table,
)
from apps.tables.catalogue.scanning import scan_root
from apps.tables.errors import PlaceSharedError, ScanRootError
from apps.tables.models import Namespace, Table
from apps.tables.models.rights import is_open
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.pages.factories import new_grant_of_right, new_table, new_user
from tests.support.pages.shown_words import words

pytestmark = pytest.mark.django_db
JSON: Final = "application/json"
API: Final = "/api/v1"
Ask = Callable[[Client, str], Any]


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    settings.ALLOWED_ROOTS = [str(tmp_path)]
    settings.HOME = tmp_path / "home"
    return tmp_path / "lake"


@pytest.fixture
def eve() -> Client:
    return client_of(new_user("eve", role=User.Role.EDITOR))


@pytest.fixture
def staff(root: Path) -> Table:
    """A private table of one file, whose name is known."""
    made = DeltaTable.create(str(root / "staff"), pa.schema({"salary": pa.int64()}))
    made.append(pa.table({"salary": [7_007]}))
    pq.write_table(pa.table({"salary": [7_007]}), root / "staff" / "part.parquet")
    (root / "staff" / "part.csv").write_text("salary\n7007\n")
    return new_table("hr.staff", location=str(root / "staff"), is_private=True)


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def posted(client: Client, path: str, **body: Any) -> Any:  # noqa: ANN401 (any document)
    return client.post(f"{API}/{path}", body, content_type=JSON)


def previewed(client: Client, path: str, **parameters: Any) -> Any:  # noqa: ANN401 (as above)
    return posted(client, path, parameters=parameters, preview=True)


def done(answer: Any) -> Any:  # noqa: ANN401 (of a client)
    """The answer, and what becomes of the job that it began."""
    jobs = []
    while (job := Job.objects.filter(state=Job.State.QUEUED).first()) is not None:
        kinds.do_job(job.kind, str(job.id))
        job.refresh_from_db()
        jobs.append([job.kind, job.state, job.error_code, job.error, job.result])
    text = answer.content.decode()
    is_page = answer["Content-Type"].startswith("text/html")
    return [answer.status_code, words(text) if is_page else text, jobs]


def shown_again(path: str) -> Ask:
    """Ask, let the worker work, and ask again."""

    def ask(client: Client, place: str) -> Any:  # noqa: ANN401 (any document)
        first = done(client.get(path, {"location": place}))
        return first, done(client.get(path, {"location": place}))

    return ask


ASKED: Final[dict[str, tuple[str, Ask]]] = {
    "check a location": (
        "",
        lambda client, place: done(posted(client, "tables/check", location=place)),
    ),
    "register": (
        "",
        lambda client, place: done(
            posted(client, "tables", name="x.mine", location=place)
        ),
    ),
    "register by the form": (
        "",
        lambda client, place: done(
            client.post("/tables/check", {"location": place, "name": "x.mine"})
        ),
    ),
    "convert": (
        "",
        lambda client, place: done(
            previewed(client, "tables/convert", name="x.mine", location=place)
        ),
    ),
    "a Parquet file": ("/part.parquet", shown_again(f"{API}/parquet")),
    "the rows of a Parquet file": ("/part.parquet", shown_again("/parquet.json")),
    "the page of a Parquet file": ("/part.parquet", shown_again("/parquet")),
    "import a file": (
        "/part.csv",
        lambda client, place: done(
            previewed(
                client,
                "tables/import",
                name="x.mine",
                location=f"{Path(place).parent.parent}/new",
                rows={"file": {"path": place}},
            )
        ),
    ),
    "merge a file": (
        "/part.csv",
        lambda client, place: done(
            previewed(
                client,
                "tables/x/open/operations/merge_rows",
                file={"path": place},
                on="t.salary = s.salary",
                update_all=True,
            )
        ),
    ),
}


def without_names(found: object, place: str) -> str:
    """A text of an answer, without what differs from one request to the next."""
    text = json.dumps(found).replace(place, "PLACE")
    name = Path(place).name if "." not in Path(place).name else Path(place).parent.name
    text = text.replace(name, "NAME")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
    text = re.sub(r"(request_id[^a-z0-9]+|Error id )[0-9a-f]{12}", "REQUEST", text)
    return re.sub(r"\d{4}-\d\d-\d\d[T ][0-9:.+]*Z?", "TIME", text)


@cases("ending, ask", ASKED)
def test_is_answered_as_a_place_where_nothing_is(
    root: Path, staff: Table, eve: Client, ending: str, ask: Ask
) -> None:
    new_table("x.open", location=str(root / "open"))
    DeltaTable.create(str(root / "open"), pa.schema({"salary": pa.int64()}))

    hidden = ask(eve, f"{root}/staff{ending}")
    unknown = ask(eve, f"{root}/stafg{ending}")

    assert "7007" not in json.dumps(hidden)
    assert without_names(hidden, f"{root}/staff{ending}") == without_names(
        unknown, f"{root}/stafg{ending}"
    )
    assert Table.objects.exclude(name="open").get() == staff


@cases("ending, ask", ASKED)
def test_is_answered_to_who_owns_the_table(
    root: Path, staff: Table, ending: str, ask: Ask
) -> None:
    new_table("x.open", location=str(root / "open"))
    DeltaTable.create(str(root / "open"), pa.schema({"salary": pa.int64()}))
    owner = new_user("olga", role=User.Role.EDITOR)
    new_grant_of_right("own", staff, owner)
    client = client_of(owner)

    found = ask(client, f"{root}/staff{ending}")
    unknown = ask(client, f"{root}/stafg{ending}")

    assert without_names(found, f"{root}/staff{ending}") != without_names(
        unknown, f"{root}/stafg{ending}"
    )


def test_a_scan_of_what_holds_it_leaves_it_out(root: Path, staff: Table) -> None:
    assert staff.is_private
    DeltaTable.create(str(root / "open"), pa.schema({"id": pa.int64()}))
    (root / "other").symlink_to(root / "staff")

    eve = new_user("eve", role=User.Role.EDITOR)
    found = scan_root(root=str(root), created_by=eve, stamp=command_stamp())
    again = scan_root(root=str(root), created_by=eve, stamp=command_stamp())

    assert (found.num_found, again.num_found) == (1, 1)
    assert "staff" not in repr([found.shown(), again.shown()])
    assert {one.full_name for one in Table.objects.all()} == {"hr.staff", "open"}
    for place in (f"{root}/staff", f"{root}/other"):
        with pytest.raises(ScanRootError, match="does not exist"):
            scan_root(root=place, created_by=eve, stamp=command_stamp())


def test_a_scan_registers_no_private_table_whose_files_an_open_one_shows(
    root: Path, tmp_path: Path
) -> None:
    stamp = command_stamp()
    Namespace.objects.create(name="hr", is_private=True, created_at=stamp.at)
    for name in ("open", "pay"):
        DeltaTable.create(str(root / name), pa.schema({"id": pa.int64()}))
    link = tmp_path / "link"
    link.symlink_to(root / "open")
    new_table("x.open", location=str(link))

    for _ in range(2):
        found = scan_root(root=str(root), namespace="hr", stamp=stamp)

        assert found.unreadable == ["open"]
    names = {one.full_name: one.is_hidden for one in Table.objects.all()}
    assert names == {"x.open": False, "hr.pay": True}


def test_what_was_found_at_a_place_is_shown_to_its_asker_alone(
    root: Path, staff: Table, eve: Client
) -> None:
    owner = new_user("olga", role=User.Role.EDITOR)
    grant = new_grant_of_right("own", staff, owner)
    olga = client_of(owner)
    place = {"location": f"{root}/staff/part.parquet"}
    olga.get(f"{API}/parquet", place)
    (job,) = Job.objects.filter(kind="tables.inspect_place")
    done(olga.get(f"{API}/parquet", place))
    assert "salary" in olga.get(f"{API}/parquet", place).content.decode()

    assert olga.get(f"{API}/jobs/{job.id}").status_code == 200
    assert eve.get(f"{API}/jobs/{job.id}").status_code == 404
    assert str(job.id) not in eve.get(f"{API}/jobs").content.decode()

    grant.delete()
    assert "salary" not in olga.get(f"{API}/parquet", place).content.decode()
    done(olga.get(f"{API}/parquet", place))
    assert "salary" not in olga.get(f"{API}/parquet", place).content.decode()
    text = olga.get("/parquet/text/schema", place)
    assert (text.status_code, b"salary" in text.content) == (422, False)


@cases("name, ending", {"the same": ("same", ""), "what holds it": ("lake", "/..")})
def test_it_is_not_made_private_while_an_open_table_shows_its_files(
    root: Path, name: str, ending: str
) -> None:
    pay = new_table("hr.pay", location=str(root / "pay"))
    (root / "pay").mkdir(parents=True)
    other = new_table(f"x.{name}", location=os.path.realpath(f"{root}/pay{ending}"))
    stamp = command_stamp()
    space = Namespace.objects.get_or_create(
        name="hr", defaults={"created_at": stamp.at}
    )[0]
    closed = Namespace.objects.create(
        name="closed", is_private=True, created_at=stamp.at
    )
    ways: list[Callable[[], object]] = [
        lambda: set_privacy(pay, Privacy(private=True), stamp),
        lambda: set_privacy(space, Privacy(private=True), stamp),
        lambda: describe_table(pay, TableSettings(restricted=True), stamp),
        lambda: rename_table(pay, name=f"{closed.name}.pay", stamp=stamp),
        lambda: register_table(
            name="hr.again",
            location=pay.location,
            settings=TableSettings(restricted=True),
            stamp=stamp,
        ),
    ]

    for way in ways:
        with pytest.raises(PlaceSharedError, match=other.full_name):
            way()
        pay.refresh_from_db()
        space.refresh_from_db()

    other.delete()
    set_privacy(pay, Privacy(private=True), stamp)
    assert Table.objects.get().is_private


def test_tables_of_one_place_become_private_in_one_namespace() -> None:
    """As the hint of the refusal says."""
    stamp = command_stamp()
    space, other_space = (
        Namespace.objects.create(name=name, created_at=stamp.at)
        for name in ("hr", "sales")
    )
    pay = new_table("hr.pay", location="/lake/pay")
    again = new_table("sales.again", location="/lake/pay")
    for where in (space, other_space):
        with pytest.raises(PlaceSharedError, match="move all tables of this place"):
            set_privacy(where, Privacy(private=True), stamp)
        where.refresh_from_db()

    rename_table(again, name="hr.again", stamp=stamp)
    set_privacy(space, Privacy(private=True), stamp)

    assert not Table.objects.filter(is_open()).exists()
    assert pay.is_hidden
