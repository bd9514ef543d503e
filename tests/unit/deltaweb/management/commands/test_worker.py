"""How a worker and the pages of the same machine share its processors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import os
import django
django.setup()
from deltaweb.management.commands.worker import let_pages_go_first
let_pages_go_first({queues!r})
let_pages_go_first({queues!r})  # as one does that begins again
print(os.nice(0))
"""


@pytest.mark.parametrize(
    ("queues", "at_least"),
    [
        pytest.param("interactive", -20, id="a page waits for a look"),
        pytest.param("default,spark", 10, id="no page waits for other work"),
        pytest.param("default", 10, id="nor in a process of its own"),
    ],
)
def test_only_work_that_no_page_waits_for_gives_way(
    tmp_path: Path, queues: str, at_least: int
) -> None:
    variables = {"DJANGO_SETTINGS_MODULE": "deltaweb.settings"}
    said = subprocess.check_output(
        [sys.executable, "-c", CODE.format(queues=queues)],
        env={**os.environ, **variables, "DELTAWEB_HOME": str(tmp_path)},
        text=True,
    )

    assert int(said) == max(at_least, os.nice(0))
