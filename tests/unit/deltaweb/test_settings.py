"""What the embedded mode promises, production demands, and the manual documents."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import cases

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = ROOT / "docs" / "manual" / "operate" / "settings.md"
# Those of the whole site take longer, and read no other variable.
CHECK_SETTINGS = ("check", "--tag", "settings")
READ = re.compile(r'(?:env_\w+|environ\.get|require)\(\s*f?"([A-Z_]+)"')
PRODUCTION = {
    "DELTAWEB_PRODUCTION": "true",
    "DELTAWEB_SECRET_KEY": "a-key-of-many-letters-" * 3,
    "DELTAWEB_ALLOWED_HOSTS": "tables.example.org",
    "DELTAWEB_PUBLIC_URL": "https://tables.example.org",
    "DELTAWEB_ALLOWED_ROOTS": "/srv/tables",
}


def start(home: Path, *arguments: str, **variables: str):
    """Run a management command in a process that has these variables alone."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),  # the tree under test, wherever the package points
        "DELTAWEB_HOME": str(home),
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "manage.py"), *arguments],
        env=environment,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_readme_documents_every_variable_that_the_settings_read() -> None:
    sources = [ROOT / "deltaweb" / "settings.py"]
    sources += (ROOT / "deltaweb" / "management" / "commands").glob("*.py")
    read = {name for path in sources for name in READ.findall(path.read_text())}
    documented = set(
        re.findall(r"^\| `([A-Z_]+)` \|", SETTINGS.read_text(), re.MULTILINE)
    )

    assert read - documented == set()
    assert documented - read == set()


def test_changelog_and_version_agree() -> None:
    from deltaweb.version import VERSION

    headings = re.findall(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )

    released = [heading for heading in headings if heading != "Unreleased"]
    assert headings.index(VERSION) <= 1
    assert released[0] == VERSION


class TestEmbeddedMode:
    def test_starts_without_any_setting(self, tmp_path: Path) -> None:
        process = start(tmp_path, *CHECK_SETTINGS)

        assert process.returncode == 0, process.stderr

    def test_makes_one_secret_key_that_only_its_user_can_read(self, tmp_path: Path):
        start(tmp_path, *CHECK_SETTINGS)
        key = tmp_path / "secret-key"
        first = key.read_text()
        start(tmp_path, *CHECK_SETTINGS)

        assert len(first) > 50
        assert key.read_text() == first
        assert key.stat().st_mode & 0o777 == 0o600

    @cases(
        "name, value",
        {
            "a boolean": ("DELTAWEB_DEBUG", "maybe"),
            "a number": ("DELTAWEB_PROBE_INTERVAL_S", "soon"),
            "a bound": ("DELTAWEB_JOB_LEASE_S", "0"),
            "a port": ("PORT", "99999"),
            "a file": ("DELTAWEB_SECRET_KEY_FILE", "/no/such/file"),
            "a home": ("DELTAWEB_HOME", "/proc/no/home"),
            "no URL": ("DELTAWEB_DATABASE_URL", "nonsense"),
            "a database": ("DELTAWEB_DATABASE_URL", "oracle://x/y"),
            "no port": ("DELTAWEB_DATABASE_URL", "postgres://u@h:x/y"),
            "a broker": ("DELTAWEB_BROKER_URL", "kafka://x"),
        },
    )
    def test_says_in_one_sentence_which_variable_makes_no_sense(
        self, tmp_path: Path, name: str, value: str
    ) -> None:
        process = start(tmp_path, *CHECK_SETTINGS, **{name: value})

        assert process.returncode == 1
        assert len(process.stderr.strip().splitlines()) == 1
        assert process.stderr.startswith(f"Error: {name}")

    def test_says_in_one_sentence_that_the_database_does_not_answer(self, tmp_path):
        url = "postgres://someone:a-secret@127.0.0.1:1/name"
        process = start(tmp_path, "serve", DELTAWEB_DATABASE_URL=url)

        assert process.returncode == 1
        assert len(process.stderr.strip().splitlines()) == 1
        assert "database does not answer" in process.stderr
        assert "a-secret" not in process.stderr


class TestProductionMode:
    def test_is_clean_for_the_deployment_check(self, tmp_path: Path) -> None:
        command = ("check", "--deploy", "--fail-level", "WARNING")
        process = start(tmp_path, *command, **PRODUCTION)

        assert process.returncode == 0, process.stderr

    @pytest.mark.parametrize(
        "missing", sorted(set(PRODUCTION) - {"DELTAWEB_PRODUCTION"})
    )
    def test_says_in_one_sentence_what_is_missing(self, tmp_path: Path, missing: str):
        variables = {k: v for k, v in PRODUCTION.items() if k != missing}
        process = start(tmp_path, *CHECK_SETTINGS, **variables)

        assert process.returncode == 1
        assert len(process.stderr.strip().splitlines()) == 1
        assert f"{missing} is not set" in process.stderr

    @cases(
        "name, value",
        {
            "debug pages": ("DELTAWEB_DEBUG", "true"),
            "a short key": ("DELTAWEB_SECRET_KEY", "a"),
            "a key of two letters": ("DELTAWEB_SECRET_KEY", "ab" * 40),
            "any host": ("DELTAWEB_ALLOWED_HOSTS", "a.example,*"),
            "http": ("DELTAWEB_PUBLIC_URL", "http://a.example"),
            "no host": ("DELTAWEB_PUBLIC_URL", "https:///x"),
            "every file": ("DELTAWEB_ALLOWED_ROOTS", "/srv:/"),
            "every file, in dots": ("DELTAWEB_ALLOWED_ROOTS", "/srv/.."),
        },
    )
    def test_refuses_in_one_sentence_what_is_unsafe(self, tmp_path, name, value):
        process = start(tmp_path, *CHECK_SETTINGS, **{**PRODUCTION, name: value})

        assert process.returncode == 1
        assert len(process.stderr.strip().splitlines()) == 1
        assert f"{name} must" in process.stderr

    def test_takes_the_secret_key_from_a_file(self, tmp_path: Path) -> None:
        file = tmp_path / "key"
        file.write_text("from-a-file-" * 6)
        variables = {**PRODUCTION, "DELTAWEB_SECRET_KEY_FILE": str(file)}
        del variables["DELTAWEB_SECRET_KEY"]
        process = start(tmp_path, *CHECK_SETTINGS, **variables)

        assert process.returncode == 0, process.stderr
