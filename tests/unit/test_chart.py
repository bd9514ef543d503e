"""The chart for Kubernetes, rendered by Helm's own code."""

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import kubernetes_validate
import pytest
import yaml

from deltaweb.version import VERSION

ROOT: Final = Path(__file__).resolve().parents[2]
CHART: Final = ROOT / "docker" / "chart"
OLDEST: Final = "1.27"  # of `kubeVersion`
NEWEST: Final = "1.37"
NEEDED: Final[dict[str, Any]] = {
    "publicUrl": "https://tables.example.org",
    "allowedRoots": ["s3://lake", "/srv/tables"],
    "existingSecret": "deltaweb-secrets",
}
EVERYTHING: Final[dict[str, Any]] = {
    "publicUrl": "https://tables.example.org:8443/",
    "allowedRoots": ["s3://lake"],
    "image": {
        "repository": "registry.example.org/deltaweb",
        "digest": "sha256:" + "0123456789abcdef" * 4,
        "pullSecrets": [{"name": "registry"}],
    },
    "trustedProxies": ["10.0.0.0/8"],
    "settings": {"DELTAWEB_PROVIDER_NAME": "Example", "DELTAWEB_WEB_THREADS": 4},
    "secretVariables": {"S3_KEY": "s3-key", "S3_SECRET": "s3-secret"},
    "externalSecret": {"enabled": True, "store": {"name": "vault"}},
    "home": {"storageClassName": "files", "accessModes": ["ReadWriteMany"]},
    "serviceAccount": {"annotations": {"cloud.example.org/role": "reader"}},
    "ingress": {"className": "nginx", "tlsSecret": "tables-tls"},
    "web": {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"podAntiAffinity": {}},
    },
}
Resources = dict[tuple[str, str], dict[str, Any]]
HELM: Final = """
import json, sys, helm_python
do, path, values = json.loads(sys.stdin.read())
try:
    if do == "lint":
        print(json.dumps(helm_python.lint(path, values, strict=True)["messages"]))
    else:
        with helm_python.Chart.load(path) as chart:
            print(json.dumps(chart.render(values, name="t", namespace="tables")))
except helm_python.HelmError as error:
    sys.exit(str(error))
"""


@cache
def _helm(order: str) -> subprocess.CompletedProcess[str]:
    """Run Helm in a process of its own: its threads must not meet forks of tests."""
    command = [sys.executable, "-c", HELM]
    return subprocess.run(
        command, input=order, capture_output=True, text=True, check=False
    )


def helm(do: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 (any document)
    """Return what Helm answers; its complaint is a ValueError."""
    done = _helm(json.dumps([do, str(CHART), values]))
    if done.returncode:
        raise ValueError(done.stderr)
    return json.loads(done.stdout)


def rendered(values: Mapping[str, Any]) -> Resources:
    """Return what Helm sends to the cluster, by kind and name."""
    files = helm("render", values)
    found = [
        one
        for name, text in files.items()
        if name.endswith(".yaml")
        for one in yaml.safe_load_all(text)
        if one
    ]
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def pods(resources: Resources) -> dict[str, dict[str, Any]]:
    """Return the specification of each pod, by the name of what starts it."""
    return {
        name: one["spec"]["template"]["spec"]
        for (kind, name), one in resources.items()
        if kind in {"Deployment", "Job"}
    }


@pytest.mark.parametrize("values", [NEEDED, EVERYTHING], ids=["least", "everything"])
def test_helm_finds_nothing_to_complain_about(values: dict[str, Any]) -> None:
    messages = [str(one) for one in helm("lint", values)]

    assert [one for one in messages if "icon is recommended" not in one] == []


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("values", [NEEDED, EVERYTHING], ids=["least", "everything"])
def test_every_resource_follows_the_schemas_of_kubernetes(
    values: dict[str, Any], version: str
) -> None:
    resources = rendered(values)
    own = {
        key: one
        for key, one in resources.items()
        if not one["apiVersion"].startswith("external-secrets.io/")
    }

    assert len(own) >= 9
    for one in own.values():
        kubernetes_validate.validate(one, version, strict=True)


def test_a_wrong_field_is_found_by_the_schemas() -> None:
    service = rendered(NEEDED)["Service", "t-deltaweb"]
    service["spec"]["portz"] = []

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(service, NEWEST, strict=True)


def test_web_worker_beat_and_the_migration_have_one_pod_each() -> None:
    names = [name.rpartition("-migrate-")[0] or name for name in pods(rendered(NEEDED))]

    assert sorted(names) == [
        "t-deltaweb",
        "t-deltaweb-beat",
        "t-deltaweb-web",
        "t-deltaweb-worker",
    ]


@pytest.mark.parametrize("values", [NEEDED, EVERYTHING], ids=["least", "everything"])
def test_no_pod_runs_as_root_or_writes_outside_its_volumes(
    values: dict[str, Any],
) -> None:
    for pod in pods(rendered(values)).values():
        security = pod["securityContext"]
        assert security["runAsNonRoot"] is True
        assert security["runAsUser"] == 999
        assert pod["automountServiceAccountToken"] is False
        for container in [*pod.get("initContainers", ()), *pod["containers"]]:
            own = container["securityContext"]
            assert own["readOnlyRootFilesystem"] is True
            assert own["allowPrivilegeEscalation"] is False
            assert own["capabilities"] == {"drop": ["ALL"]}
            mounts = {one["mountPath"] for one in container["volumeMounts"]}
            assert mounts == {"/tmp", "/var/lib/deltaweb"}  # noqa: S108 (of the pod)


def test_the_user_of_the_pods_is_that_of_the_image() -> None:
    text = (ROOT / "docker" / "Dockerfile").read_text()

    assert "\nUSER 999:999\n" in text
    assert "image-steps user /var/lib/deltaweb 999\n" in text


def test_the_web_pods_are_asked_by_the_probes() -> None:
    pod = pods(rendered(NEEDED))["t-deltaweb-web"]
    [web] = pod["containers"]

    assert web["livenessProbe"]["httpGet"] == {"path": "/livez", "port": "http"}
    assert web["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "http"}


def test_new_pods_wait_for_the_migration() -> None:
    for name, pod in pods(rendered(NEEDED)).items():
        if "-migrate-" not in name:
            [waiting] = pod["initContainers"]
            assert "deltaweb migrate --check" in waiting["command"][-1]


def test_another_image_is_another_migration() -> None:
    names = [
        {name for kind, name in rendered(values) if kind == "Job"}
        for values in (NEEDED, NEEDED | {"image": {"tag": "0.9.1"}}, NEEDED)
    ]

    assert names[0] == names[2] != names[1]


def test_another_setting_replaces_the_pods() -> None:
    first, other = (
        rendered(NEEDED | {"settings": {"DELTAWEB_LOG_LEVEL": level}})[
            "Deployment", "t-deltaweb-web"
        ]["spec"]["template"]["metadata"]["annotations"]
        for level in ("INFO", "DEBUG")
    )

    assert first != other


def test_beat_never_runs_twice() -> None:
    beat = rendered(EVERYTHING)["Deployment", "t-deltaweb-beat"]["spec"]

    assert beat["replicas"] == 1
    assert beat["strategy"] == {"type": "Recreate"}


def test_secrets_come_by_reference_alone() -> None:
    resources = rendered(EVERYTHING)
    [web] = pods(resources)["t-deltaweb-web"]["containers"]
    by_name = {one["name"]: one for one in web["env"]}

    assert {*by_name} == {
        "DELTAWEB_SECRET_KEY",
        "DELTAWEB_DATABASE_URL",
        "DELTAWEB_BROKER_URL",
        "S3_KEY",
        "S3_SECRET",
    }
    assert all("value" not in one for one in by_name.values())
    assert not {kind for kind, _ in resources} & {"Secret"}
    external = resources["ExternalSecret", "t-deltaweb"]["spec"]
    assert {one["secretKey"] for one in external["data"]} == {
        one["valueFrom"]["secretKeyRef"]["key"] for one in web["env"]
    }


def test_the_settings_are_those_that_the_manual_lists() -> None:
    manual = (ROOT / "docs" / "manual" / "operate" / "settings.md").read_text()
    settings = rendered(EVERYTHING)["ConfigMap", "t-deltaweb"]["data"]

    assert settings["DELTAWEB_ALLOWED_HOSTS"] == "tables.example.org"
    assert settings["DELTAWEB_WEB_THREADS"] == "4"
    assert [name for name in settings if f"`{name}`" not in manual] == []


def test_the_ingress_and_the_service_lead_to_the_web_pods() -> None:
    resources = rendered(EVERYTHING)
    ingress = resources["Ingress", "t-deltaweb"]["spec"]
    [rule] = ingress["rules"]
    service = resources["Service", "t-deltaweb"]["spec"]
    labels = resources["Deployment", "t-deltaweb-web"]["spec"]["template"]["metadata"]

    assert rule["host"] == "tables.example.org"
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == "t-deltaweb"
    assert ingress["tls"][0]["hosts"] == ["tables.example.org"]
    assert service["selector"] == labels["labels"]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"publicUrl": "http://tables.example.org"}, "publicUrl"),
        ({"publicUrl": "https://example.org/tables"}, "publicUrl"),
        ({"allowedRoots": []}, "allowedRoots"),
        ({"replicas": 3}, "replicas"),
        ({"settings": {"log level": "INFO"}}, "log level"),
        ({"existingSecret": ""}, "existingSecret"),
    ],
)
def test_wrong_values_are_refused_by_name(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        rendered(NEEDED | wrong)


def test_the_chart_has_the_version_of_the_program() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
