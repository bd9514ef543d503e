"""A location belongs to the tables that it is, holds, or lies in."""

from pathlib import Path

import pytest

from apps.accounts.models import User
from apps.tables.errors import ScanRootError
from apps.tables.models import Namespace
from apps.tables.models.rights import MANAGE, VIEW
from apps.tables.storage.locations import parse_location
from apps.tables.storage.roots import check_scanned, check_usable, hidden_places
from deltaweb.delta.errors import LocationNotAllowedError, LocationNotFoundError
from deltaweb.storage.spellings import HiddenPlaces
from tests.support import cases
from tests.support.pages.factories import (
    NOW,
    new_grant_of_right,
    new_table,
    new_user,
)

IN_S3 = "s3://lake/hr/staff"


@cases(
    "location, is_hidden",
    {
        "the table": (IN_S3, True),
        "with a slash": (f"{IN_S3}/", True),
        "with slashes": ("s3://lake//hr///staff", True),
        "with dots": ("s3://lake/x/../hr/./staff", True),
        "a file of it": (f"{IN_S3}/part-0.parquet", True),
        "its log": (f"{IN_S3}/_delta_log", True),
        "another scheme": ("s3a://lake/hr/staff", True),
        "a scheme in capitals": ("S3://lake/hr/staff", True),
        "another store of the same buckets": ("gs://lake/hr/staff", True),
        "a bucket in capitals": ("s3://LAKE/hr/staff", True),
        "an escape": ("s3://lake/hr/st%61ff", True),
        "an escaped slash": ("s3://lake/hr%2Fstaff", True),
        "an escaped slash of a folder": ("s3://lake%2fhr/staff", False),
        "a folder that holds it": ("s3://lake/hr", True),
        "the bucket": ("s3://lake", True),
        "a sibling": ("s3://lake/hr/orders", False),
        "a longer name": ("s3://lake/hr/staff2", False),
        "a shorter name": ("s3://lake/hr/sta", False),
        "another case of a key": ("s3://lake/hr/STAFF", False),
        "another bucket": ("s3://pond/hr/staff", False),
        "a path": ("/lake/hr/staff", False),
        "another service": ("abfs://lake/hr/staff", False),
    },
)
def test_a_url_belongs_to_a_table_however_it_is_spelt(location, is_hidden) -> None:
    places = HiddenPlaces.of([IN_S3])

    assert places.hides(parse_location(location)) is is_hidden


@cases(
    "known, location, is_hidden",
    {
        "an escaped name": ("s3://lake/a%20b", "s3://lake/a b", True),
        "a name with a blank": ("s3://lake/a b", "s3://lake/a%20b/c", True),
        "the same account": (
            "abfss://data@Acme.dfs.core.windows.net/t",
            "wasbs://data@acme.blob.core.windows.net/t/x",
            True,
        ),
        "another account": (
            "abfss://data@acme.dfs.core.windows.net/t",
            "abfss://data@other.dfs.core.windows.net/t",
            False,
        ),
        "a container of any account": (
            "abfss://data@acme.dfs.core.windows.net/t",
            "az://data/t",
            True,
        ),
        "an account of a container of any": (
            "az://data/t",
            "abfss://data@acme.dfs.core.windows.net/t",
            True,
        ),
        "another container": ("az://data/t", "az://logs/t", False),
        "a received table": ("received://acme/S/x/t", "received://acme/s/X/T", True),
    },
)
def test_spellings_of_other_stores(known: str, location: str, is_hidden) -> None:
    assert HiddenPlaces.of([known]).hides(parse_location(location)) is is_hidden


@pytest.fixture
def staff(tmp_path: Path) -> Path:
    """The folder of a table, with links to it and to its log."""
    made = tmp_path / "lake" / "hr" / "staff"
    (made / "_delta_log").mkdir(parents=True)
    (tmp_path / "link").symlink_to(made)
    (tmp_path / "above").symlink_to(tmp_path / "lake" / "hr")
    (tmp_path / "borrowed").mkdir()
    (tmp_path / "borrowed" / "_delta_log").symlink_to(made / "_delta_log")
    (tmp_path / "free" / "_delta_log").mkdir(parents=True)
    (tmp_path / "lake" / "hr" / "staff2").mkdir()
    return made


@cases(
    "path, is_hidden",
    {
        "the folder": ("lake/hr/staff", True),
        "a slash": ("lake/hr/staff/", True),
        "dots": ("lake/x/../hr/staff", True),
        "a link": ("link", True),
        "a file through a link": ("link/part-0.parquet", True),
        "a folder that holds it": ("lake", True),
        "a link to a folder that holds it": ("above", True),
        "through a link": ("above/staff/x", True),
        "a folder that has its log": ("borrowed", True),
        "another folder": ("free", False),
        "a sibling": ("lake/hr/staff2", False),
        "nothing": ("lake/none", False),
    },
)
@pytest.mark.parametrize("head", ["", "file://", "FILE://localhost"])
def test_a_folder_belongs_to_a_table_however_it_is_reached(
    tmp_path: Path, staff: Path, path: str, head: str, *, is_hidden: bool
) -> None:
    places = HiddenPlaces.of([str(staff)])

    assert places.hides(parse_location(f"{head}{tmp_path}/{path}")) is is_hidden


def test_a_table_that_was_registered_by_a_link(tmp_path: Path, staff: Path) -> None:
    places = HiddenPlaces.of([str(tmp_path / "link")])

    assert places.hides(str(staff))
    assert places.hides(str(staff / "part-0.parquet"))
    assert not places.hides(str(tmp_path / "free"))


def test_a_link_that_may_not_be_followed_leads_to_no_table(
    tmp_path: Path, closed_link: Path
) -> None:
    (tmp_path / "staff").mkdir()

    assert not HiddenPlaces.of([str(tmp_path / "staff")]).hides(str(closed_link))
    assert HiddenPlaces.of([str(closed_link)]).hides(str(closed_link))


def test_the_log_of_a_table_that_is_a_link_hides_no_other_folder(
    tmp_path: Path, staff: Path
) -> None:
    assert staff.exists()
    places = HiddenPlaces.of([str(tmp_path / "borrowed")])

    assert places.hides(str(staff))  # it has the log
    assert not places.hides(str(staff.parent / "staff2"))


@pytest.mark.django_db
class TestUsing:
    @pytest.fixture
    def editor(self) -> User:
        return new_user("edna", role=User.Role.EDITOR)

    @pytest.fixture(autouse=True)
    def _roots(self, settings, tmp_path: Path) -> None:
        settings.ALLOWED_ROOTS = ["s3://lake", str(tmp_path)]

    @cases(
        "fields, right, is_refused",
        {
            "an open table": ({}, MANAGE, False),
            "a private one": ({"is_private": True}, VIEW, True),
            "a private one with a grant": (
                {"is_private": True, "grant": VIEW},
                VIEW,
                False,
            ),
            "a grant to view, to register": (
                {"is_private": True, "grant": VIEW},
                MANAGE,
                True,
            ),
            "a grant to own, to register": (
                {"is_private": True, "grant": "own"},
                MANAGE,
                False,
            ),
            "a private namespace": ({"space": True}, VIEW, True),
        },
    )
    def test_needs_the_right_on_the_table(self, editor, fields, right, is_refused):
        wanted = dict(fields)
        grant, space = wanted.pop("grant", ""), wanted.pop("space", False)
        if space:
            Namespace.objects.create(name="hr", is_private=True, created_at=NOW)
        table = new_table("hr.staff", location=IN_S3, **wanted)
        if grant:
            new_grant_of_right(grant, table, editor)

        if not is_refused:
            check_usable(f"{IN_S3}/x", editor, right)
            return
        with pytest.raises(LocationNotFoundError, match="does not exist"):
            check_usable(f"{IN_S3}/x", editor, right)

    @pytest.mark.parametrize("role", [User.Role.ADMIN, None])
    def test_administrators_and_commands_use_every_place(self, role) -> None:
        new_table("hr.staff", location=IN_S3, is_private=True)
        user = None if role is None else new_user("root", role=role)

        check_usable(IN_S3, user, MANAGE)
        check_scanned(IN_S3, user)

    def test_a_grant_that_ended_counts_no_more(self, editor: User) -> None:
        table = new_table("hr.staff", location=IN_S3, is_private=True)
        new_grant_of_right("own", table, editor, until=NOW)

        with pytest.raises(LocationNotFoundError):
            check_usable(IN_S3, editor)

    def test_a_place_outside_of_the_roots_is_refused_as_before(self, editor) -> None:
        new_table("hr.staff", location="s3://pond/t", is_private=True)

        with pytest.raises(LocationNotAllowedError):
            check_usable("s3://pond/t", editor)

    def test_a_scan_of_what_holds_a_table_is_no_scan_of_it(self, editor: User) -> None:
        new_table("hr.staff", location=IN_S3, is_private=True)

        check_scanned("s3://lake/hr", editor)
        for place in (IN_S3, f"{IN_S3}/2026"):
            with pytest.raises(ScanRootError, match="does not exist"):
                check_scanned(place, editor)

    def test_takes_one_query_however_many_tables_there_are(
        self, editor: User, django_assert_num_queries
    ) -> None:
        for number in range(20):
            new_table(f"hr.t{number}", location=f"{IN_S3}/{number}", is_private=True)

        with django_assert_num_queries(1):
            assert hidden_places(editor, VIEW).hides(f"{IN_S3}/7/x")


ROOTS_OF_PEOPLE = {
    "explorer/parquet_file/place.py": "shows them",
    "tables/catalogue/adding/source.py": "the worker checks the file when it opens it",
    "tables/catalogue/adding/table_request.py": "and the worker checks the place",
    "tables/catalogue/checks.py": "and the worker checks the place",
    "tables/catalogue/lakes/views.py": "shows them",
    "tables/catalogue/register_views.py": "shows them",
    "tables/catalogue/scanning.py": "and leaves out hidden places",
    "tables/operations/pages/page.py": "shows them",
    "tables/work/place_look.py": "and the worker checks the place",
}
"""The modules that ask for the roots of a user, and why that is enough there."""


def test_whoever_takes_a_place_of_a_user_asks_whose_it_is() -> None:
    apps = Path(__file__).resolve().parents[5] / "apps"

    found = {
        str(path.relative_to(apps))
        for path in apps.rglob("*.py")
        if "roots_for(" in path.read_text() and path.parent.name != "storage"
    }

    assert found == {*ROOTS_OF_PEOPLE}
