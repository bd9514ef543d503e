"""Who finds and opens the pages that change a table."""

import pytest
from django.test import Client

from deltaweb.web.jobs.models import Job
from deltaweb.web.sharing.activity.action_words import WORDS
from tests.functional.table_operations.test_definition_pages import (
    COLUMNS,
    COMMENTS,
    CONSTRAINTS,
    PROPERTIES,
    PROTOCOL,
    TABLE,
)
from tests.support.tables.weekly_table import page_text

pytestmark = pytest.mark.django_db
EVERY = pytest.mark.parametrize(
    "page", [PROPERTIES, COLUMNS, COMMENTS, CONSTRAINTS, PROTOCOL]
)

CHANGES = [PROPERTIES, COLUMNS, COMMENTS, CONSTRAINTS, PROTOCOL] + [
    f"{TABLE}/{name}"
    for name in (
        "restore", "delete-rows", "update-rows", "vacuum", "optimize", "checkpoint",
        "cleanup", "maintenance",
    )
]  # fmt: skip


class TestWhoMay:
    @pytest.mark.parametrize("page", CHANGES)
    @pytest.mark.usefixtures("orders")
    def test_viewers_neither_see_nor_ask(self, viewer: Client, page: str) -> None:
        for form in (page, f"{page}.json"):
            assert viewer.get(form).status_code == 403
            assert viewer.post(form, {"where": "id = 1"}).status_code in {403, 405}
        assert not Job.objects.exists()
        for other in ("/", "/schema", "/history"):
            assert f'href="{page}' not in page_text(viewer, f"{TABLE}{other}")

    @pytest.mark.parametrize("page", CHANGES)
    def test_a_table_that_is_none_is_not_found(self, editor: Client, page: str) -> None:
        assert editor.get(page).status_code == 404

    @pytest.mark.usefixtures("orders")
    def test_editors_find_them_on_the_settings_and_schema_pages(
        self, editor: Client
    ) -> None:
        settings = page_text(editor, f"{TABLE}/settings")
        schema = page_text(editor, f"{TABLE}/schema")

        for page in (PROPERTIES, COLUMNS, COMMENTS, CONSTRAINTS, PROTOCOL):
            assert f'href="{page}"' in settings
        for page in (COLUMNS, COMMENTS, CONSTRAINTS):
            assert f'href="{page}"' in schema

    @EVERY
    @pytest.mark.usefixtures("orders")
    def test_every_page_opens(self, editor: Client, page: str) -> None:
        assert "Show what would happen" in page_text(editor, page)


def test_every_action_has_its_words() -> None:
    actions = {
        f"table.{name}"
        for name in (
            "set_properties", "unset_properties", "add_columns", "rename_column",
            "widen_column",
            "drop_column", "set_comment", "add_constraint", "drop_constraint",
            "upgrade_protocol",
        )
    }  # fmt: skip

    assert actions <= {*WORDS}
