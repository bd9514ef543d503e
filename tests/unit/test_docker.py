"""What the images are built from and what the compose file asks for."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.operate.probe_addresses import ANSWERS
from deltaweb.serving.health import LIVE

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
REQUIRED = re.compile(r"\$\{[A-Z_]+:\?[^}]+\}")
READY = "/readyz"
DIGEST = "sha256:" + "0123456789abcdef" * 4


def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yml").read_text())
    return document


def pin_images(folder: Path, answer: str) -> subprocess.CompletedProcess[str]:
    """Run the script with a `docker` that gives one answer."""
    command = folder / "docker"
    command.write_text(f"#!/bin/sh\necho '{answer}'\n")
    command.chmod(0o755)
    return subprocess.run(
        [DOCKER / "pin-images"],
        env={"PATH": f"{folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_stage_is_built_from_a_tag() -> None:
    lines = (DOCKER / "Dockerfile").read_text().splitlines()
    bases = [line.split()[1] for line in lines if line.startswith("FROM ")]
    arguments = [line.split()[1] for line in lines if line.startswith("ARG ")]

    assert len(bases) == 2
    assert {base.strip("${}") for base in bases} == set(arguments)


def test_services_run_images_that_were_pinned() -> None:
    text = (DOCKER / "compose.yml").read_text()
    images = re.findall(r"^ +image: (.+)$", text, re.MULTILINE)

    assert images[0] == "deltaweb"
    assert [REQUIRED.fullmatch(image) is not None for image in images[1:]] == [True] * 3


@pytest.mark.parametrize(
    "secret", ["DELTAWEB_SECRET_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"]
)
def test_no_secret_has_a_default(secret: str) -> None:
    uses = re.findall(rf"\$\{{{secret}(.)", (DOCKER / "compose.yml").read_text())

    assert uses
    assert set(uses) == {":"}
    assert f"${{{secret}:-" not in (DOCKER / "compose.yml").read_text()


def test_the_example_of_settings_has_every_name_of_the_compose_file() -> None:
    lines = (DOCKER / ".env.example").read_text().splitlines()
    settings = {line.partition("=")[0] for line in lines if "=" in line[:40]}
    asked = set(re.findall(r"\$\{([A-Z0-9_]+)", (DOCKER / "compose.yml").read_text()))

    assert {name for name in settings if not name.startswith("#")} == {
        *asked,
        "COMPOSE_PROFILES",  # compose's own
    }


def test_every_part_reads_further_settings_and_none_needs_them() -> None:
    services = compose()["services"]
    own = [one for one in services.values() if one.get("image") == "deltaweb"]

    assert len(own) == 4
    assert [one["env_file"] for one in own] == [
        [{"path": "settings.env", "required": False}]
    ] * 4
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"/docker/settings.env", "/docker/.env"} <= {*ignored}


def test_compose_up_in_a_clone_needs_no_setting_and_serves_this_machine_alone() -> None:
    text = (ROOT / "compose.yaml").read_text()
    service = yaml.safe_load(text)["services"]["deltaweb"]

    assert ":?" not in text
    assert service["command"] == ["serve"]
    assert service["network_mode"] == "host"
    assert "ports" not in service
    assert (ROOT / service["build"]["dockerfile"]).is_file()


def test_the_broker_asks_for_its_password() -> None:
    text = (DOCKER / "compose.yml").read_text()

    assert "--requirepass" in text
    assert "redis://:${REDIS_PASSWORD:?" in text


def test_one_host_has_two_of_what_may_fall_and_one_clock() -> None:
    services = compose()["services"]
    numbers = {
        name: service.get("deploy", {}).get("replicas", 1)
        for name, service in services.items()
    }

    assert (numbers["web"], numbers["worker"], numbers["beat"]) == (2, 2, 1)
    assert services["seaweedfs"]["profiles"] == ["seaweedfs"]


def test_what_serves_nothing_is_not_asked_whether_it_serves() -> None:
    services = compose()["services"]
    own = {name for name, one in services.items() if one.get("image") == "deltaweb"}
    checks = {name: services[name]["healthcheck"] for name in own}

    assert checks.pop("web")["test"][-1] == READY
    assert set(checks) == {"migrate", "worker", "beat"}
    assert all(check == {"disable": True} for check in checks.values())


def test_what_starts_a_container_again_asks_whether_it_lives() -> None:
    last = (DOCKER / "Dockerfile").read_text().rpartition("HEALTHCHECK")[2]

    assert '"deltaweb.serving.health"]' in last.replace(LIVE, "")
    assert {LIVE, READY} <= set(ANSWERS)


def test_tables_are_written_and_object_stores_opened_where_settings_say_so() -> None:
    deltaweb = compose()["services"]["web"]

    assert deltaweb["volumes"][1].endswith(":/tables:${TABLES_MODE:-ro}")
    assert deltaweb["environment"]["DELTAWEB_ALLOWED_ROOTS"] == (
        "${DELTAWEB_ALLOWED_ROOTS:-/tables}"
    )


def test_the_image_runs_as_somebody_else_than_root() -> None:
    last = (DOCKER / "Dockerfile").read_text().rpartition("FROM ")[2]

    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", last, re.MULTILINE)
    assert "HEALTHCHECK" in last
    assert "image-steps build" not in last


class TestPinImages:
    def test_names_every_image_that_is_asked_for(self, tmp_path: Path) -> None:
        process = pin_images(tmp_path, DIGEST)

        pinned = dict(line.split("=") for line in process.stdout.splitlines())
        asked = (DOCKER / "compose.yml").read_text()
        assert set(pinned) == set(re.findall(r"\{([A-Z]+_IMAGE)", asked))
        assert all(image.endswith(f"@{DIGEST}") for image in pinned.values())

    def test_prints_nothing_that_is_no_digest(self, tmp_path: Path) -> None:
        process = pin_images(tmp_path, "")

        assert process.returncode == 1
        assert not process.stdout
        assert "No digest of python" in process.stderr
