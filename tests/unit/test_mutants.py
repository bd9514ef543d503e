"""Each mutation still fits its file, and one that no test finds is told."""

from pathlib import Path

import pytest

from tests.mutants import ROOT, Mutant, listed, main, run

TESTED = """
from apps.ages import is_adult

def test_adults():
    assert is_adult(18)
"""


@pytest.mark.parametrize("mutant", listed(), ids=str)
def test_a_mutation_fits_its_file_once(mutant: Mutant) -> None:
    changed = mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8"))

    compile(changed, mutant.file, "exec")
    assert mutant.tests
    assert all((ROOT / path).is_file() for path in mutant.tests)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one function and its test."""
    for name in ("apps/ages.py", "tests/test_ages.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("def is_adult(age):\n    return age >= 18\n")
    (tmp_path / "tests/test_ages.py").write_text(TESTED)
    return tmp_path


def mutant(old: str, new: str) -> Mutant:
    return Mutant(file="apps/ages.py", old=old, new=new, tests=("tests/test_ages.py",))


def test_the_mutation_that_no_test_finds_is_told(project: Path) -> None:
    before = (project / "apps/ages.py").read_text()

    faults = run([mutant(">= 18", "> 18"), mutant(">= 18", ">= 17")], project)

    assert faults == ["apps/ages.py: '>= 18' -> '>= 17' survives"]
    assert (project / "apps/ages.py").read_text() == before


def test_a_mutation_that_lets_no_test_run_is_a_fault(project: Path) -> None:
    (fault,) = run([mutant("def is_adult", "def is_old")], project)

    assert "runs no test" in fault


def test_tests_that_fail_without_a_mutation_are_a_fault(project: Path) -> None:
    (project / "tests/test_ages.py").write_text(TESTED.replace("18", "17"))

    (fault,) = run([mutant(">= 18", "> 18")], project)

    assert fault.startswith("the tests fail without any mutation")


@pytest.mark.parametrize("old", ["age", "years"])
def test_an_old_text_that_does_not_occur_once_is_refused(project: Path, old: str):
    with pytest.raises(ValueError, match="occurs"):
        run([mutant(old, "x")], project)


def test_a_file_name_of_no_mutation_is_told(capsys: pytest.CaptureFixture[str]):
    assert main(["no such file"]) == 1
    assert "no mutation of such a file is listed" in capsys.readouterr().out
