"""What the web server does once, before it answers."""

import subprocess
import sys

CODE = """
import gc
from deltaweb.serving.server import on_starting
on_starting(None)
print(gc.get_freeze_count() > 1_000, gc.get_threshold()[0], len(gc.get_objects()))
"""


def test_no_page_waits_while_garbage_is_looked_for_in_what_is_loaded() -> None:
    said = subprocess.check_output([sys.executable, "-c", CODE], text=True).split()

    assert said[:2] == ["True", "10000"]
    assert int(said[2]) < 1_000
