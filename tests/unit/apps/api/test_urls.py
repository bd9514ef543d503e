"""The addresses of the REST API."""

import subprocess
import sys
from typing import Final

from apps.api.urls import endpoints

CODE: Final = """
import django
django.setup()
from apps.api.urls import endpoints
print(*(one.pattern for one in endpoints), sep="\\n")
"""


def test_all_are_there_if_no_page_was_imported_before() -> None:
    found = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    ).stdout.splitlines()

    assert sorted(found) == sorted(str(one.pattern) for one in endpoints)


def test_are_described_to_everybody_who_asks_at_once() -> None:
    code = f"""{CODE}
from concurrent.futures import ThreadPoolExecutor
from apps.api.urls import described
with ThreadPoolExecutor(4) as threads:
    found = list(threads.map(lambda _: described(), range(4)))
assert all(one is found[0] for one in found)
"""

    subprocess.run([sys.executable, "-c", code], check=True)
