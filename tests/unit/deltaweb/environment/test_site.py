"""Where the apps are found, and by whom."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deltaweb.environment.site import SITE


def said(code: str, folder: Path, **variables: str) -> str:
    """Run code in a process of its own, in a folder that has a package `apps`."""
    (folder / "apps").mkdir(exist_ok=True)
    (folder / "apps" / "__init__.py").write_text("OWN = True\n")
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"DELTAWEB_HOME": str(folder / "home")} | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("first", ["settings", "celery", "environment.site"])
def test_a_server_imports_our_apps_whatever_else_has_that_name(first, tmp_path):
    variables = {"DJANGO_SETTINGS_MODULE": "deltaweb.settings"}
    code = f"import deltaweb.{first}, apps; print(apps.__path__[0])"

    assert said(code, tmp_path, **variables, PYTHONPATH=str(tmp_path)) == str(
        SITE / "apps"
    )


def test_a_program_that_uses_the_library_keeps_its_own_apps(tmp_path: Path) -> None:
    code = "from deltaweb import DeltaTable, spark; import apps; print(apps.OWN)"

    assert said(code, tmp_path) == "True"
