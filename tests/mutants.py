"""Mutations that a test has to find: `python -m tests.mutants [part of a file name]`.

Each entry of `mutants.toml` changes one line of a file, so that a promise is broken. It
is applied in a copy, never in place, and the tests that it names are run with it. If
they still pass it has survived, and the promise has no test.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LIST: Final = Path(__file__).with_suffix(".toml")
COPIED: Final = ("apps", "deltaweb", "tests", "manage.py", "pyproject.toml")
LINKED: Final = ("docs", "static", "templates")
PROCESSES: Final = 2
TIMEOUT_S: Final = 120  # of one mutation; an endless loop is found, too
PASSED, FAILED = 0, 1  # what pytest exits with


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One mutation.

    Attributes:
        file: The path of the file that it changes, from the root of the project.
        old: Text that occurs in the file once.
        new: Text that takes its place.
        tests: Paths of the test files that find it.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """Return the text of the file with the mutation."""
        if text.count(self.old) != 1 or self.old == self.new:
            message = f"{self}: its old text occurs {text.count(self.old)} times"
            raise ValueError(message)
        return text.replace(self.old, self.new)

    def __str__(self) -> str:
        return f"{self.file}: {self.old.strip()!r} -> {self.new.strip()!r}"


def listed(path: Path = LIST) -> list[Mutant]:
    """Read the mutations of a file."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    return [Mutant(**{**one, "tests": tuple(one["tests"])}) for one in found]


def run(mutants: Sequence[Mutant], root: Path = ROOT) -> list[str]:
    """Run the tests of each mutation; return a line for each fault.

    A fault is a mutation that survives or is no test's, or a test that fails without
    any mutation.
    """
    for one in mutants:
        one.applied((root / one.file).read_text(encoding="utf-8"))
    with TemporaryDirectory(prefix="deltaweb-mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(PROCESSES):
            copies.put(_copied(root, Path(folder, str(number))))
        named = sorted({path for one in mutants for path in one.tests})
        copy = copies.get()
        code, said = _tested(copy, named, timeout_s=TIMEOUT_S * len(named))
        copies.put(copy)
        if code != PASSED:
            return [f"the tests fail without any mutation:\n{said}"]

        def fault_of(one: Mutant) -> str | None:
            copy = copies.get()
            try:
                return _fault(one, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(PROCESSES) as pool:
            return [fault for fault in pool.map(fault_of, mutants) if fault]


def _copied(root: Path, to: Path) -> Path:
    to.mkdir()
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, to / name, symlinks=True)
        elif (root / name).exists():
            shutil.copy2(root / name, to / name)
    for name in LINKED:
        (to / name).symlink_to(root / name)
    return to


def _fault(one: Mutant, copy: Path) -> str | None:
    """Return a line if the tests of a mutation do not find it."""
    began = time.monotonic()
    with _mutated(one, copy):
        code, said = _tested(copy, one.tests, timeout_s=TIMEOUT_S)
    took = f"{time.monotonic() - began:.1f} s"
    is_found = code in {None, FAILED}
    how = "found" if is_found else "SURVIVED" if code == PASSED else "NOT RUN"
    sys.stdout.write(f"{how} in {took}: {one}\n")
    sys.stdout.flush()
    if is_found:
        return None
    return f"{one} survives" if code == PASSED else f"{one} runs no test:\n{said}"


@contextmanager
def _mutated(one: Mutant, copy: Path) -> Iterator[None]:
    path = copy / one.file
    text = path.read_text(encoding="utf-8")
    # Python knows a changed file by its size and the second of its change alone.
    compiled = Path(importlib.util.cache_from_source(str(path)))
    try:
        path.write_text(one.applied(text), encoding="utf-8")
        compiled.unlink(missing_ok=True)
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        compiled.unlink(missing_ok=True)


def _tested(
    copy: Path, tests: Sequence[str], *, timeout_s: float
) -> tuple[int | None, str]:
    """Run tests in a copy; return what pytest exits with, and its last lines."""
    options = ("-q", "-x", "-n0", "--no-header", "-p", "no:cacheprovider")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DJANGO_SETTINGS_MODULE", "DELTAWEB_HOME"}
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=copy,
            env={**environment, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None, f"they take longer than {timeout_s:.0f} s"
    return done.returncode, (done.stdout + done.stderr)[-3_000:]


def main(parts: Sequence[str]) -> int:
    """Run the mutations of files whose names have one of some parts, or all."""
    began = time.monotonic()
    mutants = [
        one for one in listed() if not parts or any(part in one.file for part in parts)
    ]
    faults = run(mutants) if mutants else ["no mutation of such a file is listed"]
    took_s = time.monotonic() - began
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    sys.stdout.write(
        f"{len(mutants)} mutations in {took_s:.0f} s, {len(faults)} faults\n"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
