"""The wheel, built from a copy of the tree, in an environment of its own."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.support.processes.installation import ROOT

UV = Path(sys.executable).with_name("uv")
FOLDERS = ("docs", "apps", "deltaweb", "static", "templates")
FILES = ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml")
LEFT = shutil.ignore_patterns("__pycache__", "staticfiles")


def build_wheel(folder: Path) -> Path:
    """Build the source archive below a folder, and the wheel from it.

    The tree stays as it is.
    """
    source = folder / "source"
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=LEFT)
    for name in FILES:
        shutil.copy(ROOT / name, source)
    # The environment of the tests has what pyproject.toml asks of a build.
    _uv(
        *("build", "--quiet", "--no-build-isolation"),
        *("--python", sys.executable, "--out-dir", folder, source),
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel and what it needs, at the versions of the lock file.

    `make setup` has had all of these; where its cache is gone they are fetched.

    Returns:
        The environment's folder of programs.
    """
    _uv("venv", "--quiet", "--python", sys.executable, folder)
    line = (
        *("pip", "install", "--quiet", "--python", folder / "bin" / "python"),
        *("--constraints", ROOT / "requirements.txt", wheel),
    )
    if not _run_uv("--offline", *line):
        _uv(*line)
    _take_compiled(packages_of(folder / "bin"))
    return folder / "bin"


def _take_compiled(packages: Path) -> None:
    """Take over what Python has compiled of the same files for these tests.

    Of other files it compiles again, as it knows them by their moment and their length.
    """
    here = Path(sysconfig.get_path("purelib"))
    for package in packages.iterdir():
        for compiled in (here / package.name).rglob(
            f"*.{sys.implementation.cache_tag}.pyc"
        ):
            place = packages / compiled.relative_to(here)
            if place.parent.parent.is_dir():
                place.parent.mkdir(exist_ok=True)
                shutil.copyfile(compiled, place)


def packages_of(programs: Path) -> Path:
    """The folder of an environment's packages."""
    (packages,) = programs.parent.glob("lib/python3*/site-packages")
    return packages


def _run_uv(*arguments: object) -> bool:
    return (
        subprocess.run(
            [UV, *map(str, arguments)], cwd="/", capture_output=True, check=False
        ).returncode
        == 0
    )


def _uv(*arguments: object) -> None:
    done = subprocess.run(
        [UV, *map(str, arguments)], cwd="/", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
