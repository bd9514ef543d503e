"""Files that people upload to be imported are bounded, and kept for a day."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.accounts.models import User
from apps.jobs.models import Job
from apps.tables.catalogue.adding import uploads
from deltaweb.table import DeltaTable
from deltaweb.writer.importing.checked_rows import ImportedRows
from tests.support.pages.factories import new_user

if TYPE_CHECKING:
    from pytest_django.fixtures import Settings

Work = Callable[[], Job]

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def text_of(response: Any) -> str:  # noqa: ANN401  # the test client has its own
    return str(response.content.decode())


def test_an_upload_is_bounded(editor: Client, lake: Path, settings: "Settings") -> None:
    settings.UPLOAD_BYTES = 10
    brought = SimpleUploadedFile("a.csv", b"0123456789\n")

    answer = editor.post(
        "/tables/new/import", {"name": "t", "location": f"{lake}/t", "file": brought}
    )

    assert answer.status_code == 422
    assert "11 bytes; the limit is 10" in text_of(answer)


class TestUploadsThatWait:
    """Of 60 bytes each, with room for two of a user and for three of all."""

    @pytest.fixture(autouse=True)
    def room(self, settings: "Settings", tmp_path: Path) -> None:
        settings.HOME = tmp_path / "home"
        settings.UPLOADS_USER_BYTES = 120
        settings.UPLOADS_BYTES = 180

    def bring(self, client: Client, lake: Path) -> Any:  # noqa: ANN401  # likewise
        brought = SimpleUploadedFile("a.csv", b"id\n".ljust(60, b"1"))
        return client.post(
            "/tables/new/import",
            {"name": "t", "location": f"{lake}/t", "file": brought},
        )

    def test_are_bounded_for_a_user(self, editor: Client, lake: Path) -> None:
        for _ in range(2):
            assert self.bring(editor, lake).status_code == 302

        answer = self.bring(editor, lake)

        assert answer.status_code == 422
        said = text_of(answer)
        assert "a.csv has 60 bytes, and there is no room for it" in said
        assert "your 2 files that wait to be imported take 120 of 120 bytes" in said
        assert "the oldest goes in 24 hours" in said
        assert len([*uploads.uploads_folder().glob("*/data")]) == 2

    def test_are_bounded_for_everybody(self, editor: Client, lake: Path) -> None:
        for _ in range(2):
            self.bring(editor, lake)
        editor.force_login(new_user("adam", role=User.Role.EDITOR))
        assert self.bring(editor, lake).status_code == 302

        answer = self.bring(editor, lake)

        assert answer.status_code == 422
        said = text_of(answer)
        assert "the 3 files that wait to be imported take 180 of 180 bytes" in said

    def test_make_room_when_they_are_old(self, editor: Client, lake: Path) -> None:
        for _ in range(2):
            self.bring(editor, lake)
        for folder in uploads.uploads_folder().glob("*-*"):
            os.utime(folder, (0, 0))

        assert self.bring(editor, lake).status_code == 302
        assert len([*uploads.uploads_folder().glob("*/data")]) == 1

    def test_go_by_the_clock(self, editor: Client, lake: Path) -> None:
        self.bring(editor, lake)
        (kept,) = uploads.uploads_folder().glob("*-*")
        uploads.forget_old_uploads()
        assert kept.exists()

        os.utime(kept, (0, 0))
        uploads.forget_old_uploads()

        assert not kept.exists()


class TestAnUploadThatWasLookedAt:
    """Its bytes stay what they are: what was counted of them need not be again."""

    @pytest.fixture
    def readings(self, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        """Note each time that all rows are read: whether only to be looked at."""
        readings: list[bool] = []
        batches = ImportedRows.batches

        def noted(rows: ImportedRows) -> Iterator[pa.RecordBatch]:
            readings.append(rows.is_look)
            return batches(rows)

        monkeypatch.setattr(ImportedRows, "batches", noted)
        return readings

    def look(self, editor: Client, work: Work, lake: Path) -> Job:
        values = {"name": "t", "location": f"{lake}/t"}
        brought = SimpleUploadedFile("a.csv", b"id,v\n1,a\nx,b\n3,c\n")
        editor.post("/tables/new/import", {**values, "file": brought})
        kept = work().parameters["asked"]["upload"]
        columns = {
            "column_source": ["id", "v"],
            "column_name": ["id", "v"],
            "column_type": ["bigint", "string"],
            "column_nullable": ["0", "1"],
        }
        again = {**values, **columns, "upload": kept, "file_name": "a.csv"}
        editor.post("/tables/new/import", again)
        return work()

    def test_is_read_once_more_to_be_written(self, editor, work, lake, readings):
        look = self.look(editor, work, lake)
        assert (look.result or {})["counts"] == {"num_rows": 2, "num_bad": 1}

        editor.post("/tables/new/import", {"seen": look.id})
        done = work()

        assert (done.state, (done.result or {})["num_rows"]) == (Job.State.DONE, 2)
        assert (done.result or {})["num_bad"] == 1
        assert readings == [True, True, False]  # of what was found, of what was chosen
        assert DeltaTable(f"{lake}/t").snapshot().read()["id"].to_pylist() == [1, 3]

    def test_is_looked_at_again_where_its_bytes_are_others(
        self, editor: Client, work: Work, lake: Path, readings: list[bool]
    ) -> None:
        look = self.look(editor, work, lake)
        (kept,) = uploads.uploads_folder().glob("*/data")
        kept.write_bytes(b"id,v\n1,a\n2,b\n3,c\n")

        editor.post("/tables/new/import", {"seen": look.id})
        done = work()

        assert done.error_code == "operation-outdated"
        assert readings == [True, True, True]
        assert not Path(f"{lake}/t").exists()
