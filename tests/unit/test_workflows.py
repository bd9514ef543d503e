"""The workflows that test and publish: what they run, and what they trust."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def workflow(name: str) -> dict[str, Any]:
    path = ROOT / ".github" / "workflows" / name
    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


def steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in document["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_named_by_its_commit(path: Path) -> None:
    used = [step["uses"] for step in steps(workflow(path.name)) if "uses" in step]

    assert used
    assert [action for action in used if not PINNED.fullmatch(action)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_unless_a_job_says_more(path: Path) -> None:
    assert workflow(path.name)["permissions"] == {"contents": "read"}


def test_the_tests_run_what_a_person_runs_on_the_oldest_and_newest_python() -> None:
    job = workflow("test.yml")["jobs"]["test"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert ".ci/run" in [step.get("run") for step in job["steps"]]
    assert project["requires-python"] == f">={job['strategy']['matrix']['python'][0]}"


def test_nothing_is_published_without_an_approval() -> None:
    jobs = workflow("release.yml")["jobs"]
    publishing = {name for name, job in jobs.items() if "needs" in job}

    assert publishing == {"packages", "image"}
    assert {jobs[name]["environment"] for name in publishing} == {"release"}
    assert {jobs[name]["needs"] for name in publishing} == {"build"}
