"""Schemas that were stored before wide ones had a place of their own."""

import importlib
import json
from typing import Any

import pytest
from django.apps import apps

from apps.tables.models import WideSchema
from tests.support.pages.factories import new_metadata, new_table

pytestmark = pytest.mark.database

MIGRATION = importlib.import_module(
    "apps.tables.migrations.0005_wide_schemas_squashed_0006_missing_files"
)


def schema_text(num_columns: int) -> str:
    fields: list[dict[str, Any]] = [
        {"name": f"c{n}", "type": "long", "nullable": True, "metadata": {}}
        for n in range(num_columns)
    ]
    return json.dumps({"type": "struct", "fields": fields})


@pytest.mark.django_db
def test_moves_the_wide_ones_and_no_other() -> None:
    table, wide = new_table(), schema_text(10_001)
    narrow = schema_text(9_000)
    rows = [
        new_metadata(table, version, schema_string=text)
        for version, text in enumerate([narrow, wide, wide])
    ]

    MIGRATION.move_wide_schemas(apps, None)

    for row in rows:
        row.refresh_from_db()
    assert [row.schema_string for row in rows] == [narrow, "", ""]
    stored = WideSchema.objects.get()
    assert (stored.num_columns, stored.schema_string) == (10_001, wide)
    assert rows[1].wide_schema == stored
