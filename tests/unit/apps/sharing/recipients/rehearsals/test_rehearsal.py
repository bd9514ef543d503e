"""Which clients a rehearsal finds, and where."""

import sys
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.sharing.errors import RehearsalPythonError
from apps.sharing.recipients.rehearsals.rehearsal import pythons


def new_python(folder: Path, *lines: str) -> str:
    """A Python of another environment: with a package of Spark and one of its jars."""
    jars = folder / "pyspark" / "jars"
    jars.mkdir(parents=True)
    (jars.parent / "__init__.py").touch()
    (jars / "iceberg-spark-runtime-4.1_2.13-1.12.0.jar").touch()
    place = folder / "python"
    run = f'export PYTHONPATH={folder}\nexec {sys.executable} "$@"\n'
    place.write_text("\n".join(["#!/bin/sh", *lines, run]))
    place.chmod(0o755)
    return str(place)


def test_a_client_is_looked_for_here_first(tmp_path, settings: Settings) -> None:
    settings.REHEARSAL_PYTHON = new_python(tmp_path)

    found = pythons()

    assert found["spark"] == settings.REHEARSAL_PYTHON
    assert found["pyiceberg"] == sys.executable
    settings.REHEARSAL_PYTHON = ""
    assert "spark" not in pythons()


@pytest.mark.parametrize("line", ["exit 1", "echo no list; exit 0"])
def test_an_environment_that_does_not_say_is_an_error(tmp_path, settings, line) -> None:
    settings.REHEARSAL_PYTHON = new_python(tmp_path, line)

    with pytest.raises(RehearsalPythonError):
        pythons()

    settings.REHEARSAL_PYTHON = str(tmp_path / "gone")
    with pytest.raises(RehearsalPythonError, match="FileNotFoundError"):
        pythons()
