"""The folder that all tests read: who changes it is refused, or named."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import cases
from tests.support.shared_folder import SharedFolder


@pytest.fixture
def shared(tmp_path: Path) -> SharedFolder:
    folder = tmp_path / "lake"
    (folder / "orders").mkdir(parents=True)
    (folder / "orders" / "a.json").write_text("{}")
    return SharedFolder(folder)


@cases(
    "change",
    {
        "a rename": lambda table: table.rename(table.with_name("away")),
        "a removal": lambda table: (table / "a.json").unlink(),
        "a removal of a tree": shutil.rmtree,
        "a new file": lambda table: (table / "b.json").write_text("{}"),
        "an appended line": lambda table: (table / "a.json").open("a"),
        "a new folder": lambda table: (table / "b").mkdir(),
        "a link into it": lambda table: os.link(table / "a.json", table / "b.json"),
        "a time": lambda table: os.utime(table / "a.json"),
        "a mode": lambda table: table.chmod(0o700),
    },
)
def test_a_change_of_this_process_is_refused(
    shared: SharedFolder, change: Callable[[Path], object]
) -> None:
    table = shared.folder / "orders"

    with pytest.raises(PermissionError, match="copy the table first"):
        change(table)

    assert len(shared.attempts()) == 1
    assert shared.attempts() == []
    assert shared.changes() == []


@cases(
    "command",
    {
        "moved away and back": "os.rename('orders', 'x'); os.rename('x', 'orders')",
        "a new file": "open('orders/b.json', 'w')",
        "another content": "open('orders/a.json', 'w').write('[]')",
        "a removal": "os.remove('orders/a.json')",
    },
)
def test_a_change_of_another_process_is_found(
    shared: SharedFolder, command: str
) -> None:
    code = f"import os; {command}"
    subprocess.run([sys.executable, "-c", code], cwd=shared.folder, check=True)

    assert [path for path in shared.changes() if path.startswith(str(shared.folder))]
    assert shared.changes() == []
    assert shared.attempts() == []


def test_reading_and_copying_are_free(shared: SharedFolder, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(shared.folder, tmp_path / "copy"))
    (copy / "orders" / "a.json").write_text("[]")
    (tmp_path / "lake beside it").mkdir()
    shared.folder.mkdir(exist_ok=True)

    assert (shared.folder / "orders" / "a.json").read_text() == "{}"
    assert (shared.attempts(), shared.changes()) == ([], [])
