"""The page of maintenance: what is stored, what can be done, and what was done."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import NEWEST, Work
from tests.support.files.aged_files import age
from tests.support.pages.factories import new_unindexed_table, new_user
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
TABLE = "/t/default/orders/"
MAINTENANCE = f"{TABLE}maintenance"
PAGES = ["vacuum", "optimize", "restore", "checkpoint", "cleanup"]


class TestMaintenance:
    @pytest.mark.usefixtures("orders")
    def test_is_reached_from_one_place(self, editor: Client) -> None:
        page = page_text(editor, MAINTENANCE)

        assert all(f'href="{TABLE}{name}"' in page for name in PAGES)
        assert "No runs yet." in page
        assert f'href="{MAINTENANCE}"' in page_text(editor, TABLE)
        assert [
            tool["name"] for tool in page_json(editor, MAINTENANCE)["tools"]
        ] == PAGES

    @pytest.mark.usefixtures("orders")
    def test_says_what_was_asked_for_last(self, editor: Client, work: Work) -> None:
        editor.post(f"{TABLE}restore", {"version": 77})
        work()

        page = page_text(editor, MAINTENANCE)

        assert "Preview: restore a version of orders" in page
        assert "eve" in page
        (run,) = page_json(editor, MAINTENANCE)["runs"]
        assert run["state"] == "FAILED"
        assert run["message"] in page

    def test_of_a_table_without_an_index_waits(self, editor: Client) -> None:
        new_unindexed_table("orders")

        assert "has not been indexed yet" in page_text(editor, MAINTENANCE)


class TestStorage:
    def parts(self, editor: Client) -> dict[str, Any]:
        storage = page_json(editor, MAINTENANCE)["storage"]
        found: dict[str, Any] = {part["kind"]: part for part in storage["parts"]}
        return found

    def list_folder(self, editor: Client, work: Work) -> Job:
        assert editor.post(MAINTENANCE).headers["Location"] == MAINTENANCE
        return work()

    def test_is_the_live_files_alone_until_the_folder_was_listed(self, editor, orders):
        Table.objects.filter(id=orders.id).update(num_files=3, size_bytes=1234)

        storage = page_json(editor, MAINTENANCE)["storage"]
        shown = page_text(editor, MAINTENANCE)

        assert [part["kind"] for part in storage["parts"]] == ["live"]
        assert (storage["size_bytes"], storage["listed_at"]) == (1234, None)
        assert "never listed" in shown
        assert "List the folder" in shown
        assert "List the folder to see old-version files" in shown

    @pytest.mark.usefixtures("orders")
    def test_is_every_byte_of_the_folder(self, editor, folder, work):
        DeltaTable(str(folder)).delete("p = 'b'")
        (folder / "p=a" / "part-lost.parquet").write_bytes(b"x" * 77)

        job = self.list_folder(editor, work)
        storage = page_json(editor, MAINTENANCE)["storage"]
        parts = self.parts(editor)

        on_disk = [path for path in folder.rglob("*") if path.is_file()]
        assert job.state == Job.State.DONE, job.error
        assert storage["size_bytes"] == sum(path.stat().st_size for path in on_disk)
        assert storage["num_files"] == len(on_disk)
        assert parts["live"]["num_files"] == 2
        assert parts["tombstoned"]["num_files"] == 1
        assert (parts["orphan"]["num_files"], parts["orphan"]["size_bytes"]) == (1, 77)
        assert parts["log"]["num_files"] == NEWEST + 2
        shown = " ".join(page_text(editor, MAINTENANCE).split())
        assert "older versions still need them" in shown
        assert "List again" in shown

    @pytest.mark.usefixtures("orders")
    def test_is_read_without_the_folder(self, editor: Client, folder: Path, work: Work):
        self.list_folder(editor, work)
        before = self.parts(editor)

        shutil.rmtree(folder)

        assert self.parts(editor) == before

    def test_says_what_came_since(self, editor: Client, orders: Table, work: Work):
        self.list_folder(editor, work)

        Table.objects.filter(id=orders.id).update(version=NEWEST + 2)

        assert "2 versions were committed since then." in page_text(editor, MAINTENANCE)

    @pytest.mark.usefixtures("orders")
    def test_leads_to_what_a_vacuum_could_delete_until_it_has(
        self, editor: Client, folder: Path, work: Work
    ) -> None:
        lost = folder / "p=a" / "part-lost.parquet"
        lost.write_bytes(b"x" * 77)
        age(lost, days=20)
        look = self.list_folder(editor, work)

        before = " ".join(page_text(editor, MAINTENANCE).split())
        agreed = {"seen": look.id, "hours": 168, "sure": "on"}
        editor.post(f"{TABLE}vacuum", agreed)
        assert work().state == Job.State.DONE
        after = " ".join(page_text(editor, MAINTENANCE).split())

        assert "A vacuum could delete 1 file, 77 B" in words(before)
        assert f'href="{TABLE}vacuum?job={look.id}"' in before
        assert "A vacuum has deleted files since" in after
        assert "A vacuum could delete" not in after
        assert not lost.exists()

    @pytest.mark.usefixtures("orders")
    def test_shows_the_look_that_lists_and_the_one_that_failed(
        self, editor: Client, folder: Path, work: Work
    ) -> None:
        editor.post(MAINTENANCE)
        waiting = page_text(editor, MAINTENANCE)
        shutil.rmtree(folder)
        work()
        failed = page_text(editor, MAINTENANCE)

        assert "Listing the folder" in waiting
        assert "List the folder</button>" not in waiting
        assert "The folder was not listed" in failed
        assert "List the folder</button>" in failed

    def test_of_a_table_without_an_index_is_not_listed(self, editor: Client) -> None:
        new_unindexed_table("orders")

        assert editor.post(MAINTENANCE).status_code == 409
        assert not Job.objects.filter(kind="tables.vacuum").exists()

    @pytest.mark.usefixtures("orders")
    def test_a_script_gets_the_job(self, editor: Client) -> None:
        answer = editor.post(f"{MAINTENANCE}.json")

        assert answer.status_code == 202
        assert answer.json()["job"]["state"] == "QUEUED"


class TestTheWayThere:
    @pytest.mark.usefixtures("orders")
    @pytest.mark.parametrize("page", ["maintenance", *PAGES])
    def test_is_a_tab_of_all_its_pages(self, editor: Client, page: str) -> None:
        shown = " ".join(page_text(editor, f"{TABLE}{page}").split())

        assert f'<a href="{MAINTENANCE}" aria-current="page">Maintenance</a>' in shown

    @pytest.mark.usefixtures("orders")
    def test_to_properties_and_protocol_is_the_menu(self, editor, client):
        addresses = [f'href="{TABLE}properties"', f'href="{TABLE}protocol"']

        shown = page_text(editor, f"{TABLE}history")
        assert all(address in shown for address in addresses)
        client.force_login(new_user("vera"))
        shown = page_text(client, f"{TABLE}history")
        assert not any(address in shown for address in addresses)

    @pytest.mark.usefixtures("orders")
    def test_to_a_parquet_file_is_the_catalogue(self, editor: Client) -> None:
        assert 'href="/parquet"' in page_text(editor, "/tables/")

    def test_to_a_parquet_file_is_no_catalogue_of_viewers(self, client: Client) -> None:
        client.force_login(new_user("vera"))

        assert 'href="/parquet"' not in page_text(client, "/tables/")
