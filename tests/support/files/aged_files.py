"""Files that left a table, or were written, some days ago."""

import os
import time
from pathlib import Path

DAY_S = 86_400


def age(path: Path, *, days: int) -> float:
    """Let a file have been written some days ago; returns when, in seconds."""
    moment = time.time() - days * DAY_S
    os.utime(path, (moment, moment))
    return moment


def age_removed(folder: Path, gone: str, *, version: int, days: int) -> None:
    """Let the one file that a version removed have left some days ago."""
    moment = age(folder / gone, days=days)
    commit = folder / "_delta_log" / f"{version:020d}.json"
    text = commit.read_text()
    start = text.index('"deletionTimestamp":') + len('"deletionTimestamp":')
    end = start + len(str(int(time.time() * 1000)))
    commit.write_text(f"{text[:start]}{int(moment * 1000)}{text[end:]}")
