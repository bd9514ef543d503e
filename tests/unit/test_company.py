"""The script of a company on one machine; a browser test of `make test-all` runs it."""

import configparser
import re
import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
COMPANY: Final = ROOT / "docker" / "company"
SETTING: Final = re.compile(r"^(DELTAWEB_\w+)=", re.MULTILINE)
FILE: Final = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)
PAGE: Final = ROOT / "docs" / "manual" / "operate" / "company.md"


def test_bash_reads_it() -> None:
    subprocess.run(["bash", "-n", str(COMPANY / "start")], check=True)


def test_its_settings_are_those_of_the_manual() -> None:
    known = (PAGE.parent / "settings.md").read_text()
    names = SETTING.findall((COMPANY / "start").read_text())
    assert len(names) > 15
    missing = [
        name
        for name in names
        if f"`{name}`" not in known and f"`{name.removesuffix('_FILE')}`" not in known
    ]
    assert missing == []


def test_its_page_names_each_file() -> None:
    files = {one.name for one in COMPANY.iterdir()}
    assert {*FILE.findall(PAGE.read_text())} == files


def test_each_process_starts_again_and_has_a_log() -> None:
    read = configparser.RawConfigParser(inline_comment_prefixes=(";",))
    read.read(COMPANY / "supervisord.conf")
    programs = [read[one] for one in read.sections() if one.startswith("program:")]
    assert len(programs) == 11
    for program in programs:
        assert program["startretries"] == "1000"
        assert program["stdout_logfile"].startswith("/srv/company/log/")
