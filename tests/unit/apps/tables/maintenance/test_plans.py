"""How large a checkpoint will be, and what storage says of older ones."""

from contextlib import ExitStack
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.table import DeltaTable
from deltaweb.web.accounts.models import User
from deltaweb.web.tables.index.folders import indexes_folder
from deltaweb.web.tables.maintenance.log_look import look_at_log
from deltaweb.web.tables.maintenance.plans import CheckpointPlan, checkpoint_plan
from deltaweb.web.tables.models import Table
from deltaweb.web.tables.storage.bounded_read import MAX_READS, PLACES
from tests.benchmarks.logs import write_json_log
from tests.support.pages.factories import (
    new_commit,
    new_metadata,
    new_protocol,
    new_table,
    new_user,
)

pytestmark = pytest.mark.django_db
COMMITS, NEWEST = 4, 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_json_log(tmp_path / "orders", commits=COMMITS, adds=400, removes=5)


@pytest.fixture
def orders(folder: Path) -> Table:
    table = new_table(
        "orders",
        location=str(folder),
        version=NEWEST,
        num_files=1585,
        num_tombstones=15,
        summary={"readable_runs": [[0, NEWEST, "READABLE", ""]]},
    )
    new_protocol(table)
    new_metadata(table)
    for version, num_files in enumerate((400, 795, 1190, 1585)):
        new_commit(table, version, num_files=num_files)
    return table


def plan_of(version: str = "") -> CheckpointPlan:
    ada = User.objects.first() or new_user("ada", role=User.Role.ADMIN)
    return checkpoint_plan(ada, "default", "orders", version)


@pytest.mark.usefixtures("orders")
class TestTheSize:
    def test_goes_by_the_files_where_nothing_else_is_known(self) -> None:
        size_bytes = plan_of("1").size_bytes

        assert size_bytes == 12 * 1024 + 795 * 100

    def test_goes_by_an_older_checkpoint_that_is_large_enough(
        self, folder: Path
    ) -> None:
        older = DeltaTable(str(folder)).create_checkpoint(2)

        size_bytes = plan_of().size_bytes

        assert size_bytes == older.size_bytes * 1585 // 1190

    def test_goes_by_the_index_of_the_newest_version(
        self, orders: Table, tmp_path: Path, settings: object
    ) -> None:
        settings.HOME = tmp_path  # type: ignore[attr-defined]  # pytest-django's
        index = indexes_folder() / str(orders.id) / "1-2-x"
        index.mkdir(parents=True)
        (index / "files.arrow").write_bytes(b"x" * 50_000)
        Table.objects.update(index_name="1-2-x")

        size_bytes = plan_of().size_bytes

        assert size_bytes == 12 * 1024 + 5_000 + 15 * 40

    def test_is_not_known_without_a_count_of_files(self, orders: Table) -> None:
        orders.commits.update(num_files=None)

        assert plan_of("1").size_bytes is None


@pytest.mark.usefixtures("orders")
class TestTheNewestCheckpoint:
    def test_is_the_newest_at_or_before_the_version(self, folder: Path) -> None:
        for version in (0, 2):
            DeltaTable(str(folder)).create_checkpoint(version)

        plan = plan_of("1")

        assert plan.look is not None
        assert plan.look.checkpoint is not None
        assert plan.look.checkpoint.version == 0
        assert plan.commits_since == 1
        assert not plan.is_there

    def test_is_found_beside_a_hint_that_names_none(self, folder: Path) -> None:
        DeltaTable(str(folder)).create_checkpoint(1)
        DeltaTable(str(folder)).create_checkpoint(2)
        (folder / "_delta_log" / checkpoint_name(2)).unlink()

        plan = plan_of()

        assert plan.commits_since == NEWEST - 1

    def test_is_not_known_where_storage_is_slow(
        self, orders: Table, settings: Settings
    ) -> None:
        settings.STORAGE_TIMEOUT_S = 0.01
        with ExitStack() as unanswered:  # earlier reads
            for _ in range(MAX_READS):
                unanswered.enter_context(PLACES)
            look = look_at_log(orders, NEWEST)

        assert look.checkpoint is None
        assert "Storage has not answered" in look.problem
