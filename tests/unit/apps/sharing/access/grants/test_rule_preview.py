"""What a rule would leave of a table: its files, its rows, and the first of them."""

from pathlib import Path

import pytest

from apps.sharing.access.grants.rule_preview import (
    PartPreview,
    ReadBudget,
    preview_rules,
)
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.access.grants.seen_rows import SeenRows
from apps.tables.models import Table
from tests.functional.sharing_api.ruled import new_staff
from tests.support import cases
from tests.support.pages.factories import new_metadata, new_table

pytestmark = pytest.mark.django_db
OF_EU = TableRule(("region = recipient.region",), None, {"region": "EU"})
OF_NOBODY = TableRule(("region = recipient.region",), None, {})
HIDING = TableRule(("region = 'EU'",), frozenset({"id", "region"}), {})
WHOLE = TableRule((), None, {})


@pytest.fixture
def staff(tmp_path: Path) -> Table:
    """Three files, of 5 rows each: of EU, of US, and of 3 and 2 rows of both."""
    made = new_staff(tmp_path / "staff").snapshot().metadata
    table = new_table("hr.staff", location=str(tmp_path / "staff"), version=3)
    new_metadata(table, schema_string=made.schema_string)
    return table


def previewed(table: Table, *rules: TableRule, may_read: int = 1 << 20) -> PartPreview:
    """The previews of rules, the first of which is viewed."""
    budget = ReadBudget(may_read)
    return preview_rules(table, rules, viewed=rules[0].digest, budget=budget)


@cases(
    "rule, rows, files, outside",
    {
        "of a region": (OF_EU, 8, (1, 1, 1), 0),
        "without the property": (OF_NOBODY, 0, (0, 0, 3), 0),
        "without columns": (HIDING, 8, (0, 2, 1), 0),
        "whole": (WHOLE, 15, (3, 0, 0), None),
    },
)
def test_rows_and_files_are_counted(staff: Table, rule, rows, files, outside) -> None:
    found = previewed(staff, rule)
    preview = found.rules[rule.digest]

    assert found.num_rows == 15
    assert preview.num_rows == rows
    kinds = (preview.untouched, preview.rewritten, preview.left_out)
    assert tuple(one.num_files for one in kinds) == files
    assert preview.rows_outside == outside


def test_the_first_rows_are_those_of_the_rule_and_of_the_one_that_is_viewed(staff):
    found = previewed(staff, HIDING, OF_EU)
    first = found.rules[HIDING.digest].first

    assert first is not None
    assert first.columns == ["id", "region"]
    assert first.cells == [[str(number), "EU"] for number in range(5)]
    assert found.rules[OF_EU.digest].first is None


def test_a_recipient_without_the_property_has_no_first_row(staff: Table) -> None:
    first = previewed(staff, OF_NOBODY).rules[OF_NOBODY.digest].first

    assert first is not None
    assert first.cells == []


def test_without_reading_only_what_the_log_proves_is_counted(staff: Table) -> None:
    found = previewed(staff, OF_EU, OF_NOBODY, WHOLE, may_read=0).rules

    assert found[OF_EU.digest].num_rows is None  # 3 of the 5 rows of one file
    assert found[OF_EU.digest].first is None
    assert found[OF_NOBODY.digest].num_rows == 0
    assert found[WHOLE.digest].num_rows == 15


@pytest.mark.parametrize("rule", [OF_EU, OF_NOBODY, HIDING, WHOLE])
def test_a_job_is_asked_for_the_very_rule(rule: TableRule) -> None:
    asked = SeenRows.of(rule, 3)

    assert asked.table_rule().digest == rule.digest
