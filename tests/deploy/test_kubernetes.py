"""deploy/kubernetes: pinned, restricted, and each part only with what it needs."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.core.settings import Settings
from app.entry.cli.__main__ import COMMANDS
from app.operations.operating.health import router as health_router

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
HEALTH = {getattr(route, "path", "") for route in health_router.routes}
FILES = {path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted(FOLDER.glob("*.yaml"))}
OBJECTS: dict[tuple[str, str], dict[str, Any]] = {
    (each["kind"], each["metadata"]["name"]): each
    for name, documents in FILES.items()
    for each in documents
    if name != "kustomization.yaml"
}
DEPLOYMENTS = {name: each["spec"]["template"]["spec"] for (kind, name), each in OBJECTS.items() if kind == "Deployment"}
BACKUP = OBJECTS["CronJob", "backup"]["spec"]
MIGRATION = OBJECTS["Job", "migrate"]["spec"]["template"]
PODS = DEPLOYMENTS | {"backup": BACKUP["jobTemplate"]["spec"]["template"]["spec"], "migrate": MIGRATION["spec"]}
each_pod = pytest.mark.parametrize("pod", PODS.values(), ids=PODS)


def test_everything_is_applied_but_the_template_of_the_secret():
    listed = set(FILES["kustomization.yaml"][0]["resources"])
    assert listed == set(FILES) - {"kustomization.yaml", "secret.example.yaml"}
    [image] = FILES["kustomization.yaml"][0]["images"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", str(image["newTag"]))


def test_everything_lies_in_the_namespace():
    for (kind, _), each in OBJECTS.items():
        assert each["metadata"].get("namespace") == (None if kind == "Namespace" else "meshgrade")


@each_pod
def test_pods_are_restricted(pod):
    context = pod["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] > 0
    assert context["seccompProfile"]["type"] in ("RuntimeDefault", "Localhost")
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)
    for volume in pod["volumes"]:
        if volume == {"name": "backups", "persistentVolumeClaim": {"claimName": "backups"}}:
            continue
        assert set(volume) == {"name", "emptyDir"}
        assert volume["emptyDir"]["sizeLimit"]
    for container in pod["containers"]:
        own = container["securityContext"]
        assert own == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


@each_pod
def test_containers_are_pinned_limited_and_run_a_command_that_exists(pod):
    for container in pod["containers"]:
        assert re.search(r":\d+\.\d+\.\d+$", container["image"])
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}
        assert container["args"][0] in COMMANDS
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}


@each_pod
def test_settings_and_keys_of_the_secret_exist(pod):
    secret = OBJECTS["Secret", "meshgrade"]["stringData"]
    for container in pod["containers"]:
        for variable in container["env"]:
            assert variable["name"].removeprefix("MESHGRADE_").lower() in Settings.model_fields
            if "valueFrom" in variable:
                reference = variable["valueFrom"]["secretKeyRef"]
                assert reference["name"] == "meshgrade"
                assert reference["key"].endswith(variable["name"].removeprefix("MESHGRADE_"))
                assert reference["key"] in secret
            else:
                assert not re.search("TOKEN|URL$", variable["name"]) or variable["name"] == "MESHGRADE_PUBLIC_URL"


def test_the_api_names_the_network_of_its_proxies():
    [container] = DEPLOYMENTS["api"]["containers"]
    [proxies] = [each["value"] for each in container["env"] if each["name"] == "MESHGRADE_PROXIES"]
    assert Settings(proxies=proxies).proxy_networks


def test_the_worker_has_no_secret_but_the_database():
    [container] = DEPLOYMENTS["worker"]["containers"]
    [secret] = [each for each in container["env"] if "valueFrom" in each]
    assert secret["name"] == "MESHGRADE_DATABASE_URL"
    assert secret["valueFrom"]["secretKeyRef"]["key"] == "WORKERS_DATABASE_URL"


def test_only_a_migration_owns_the_tables():
    using = [name for name in ("api", "worker") if "OWNERS_DATABASE_URL" in str(DEPLOYMENTS[name])]
    assert using == []
    assert "OWNERS_DATABASE_URL" not in str(OBJECTS["CronJob", "backup"])
    assert "OWNERS_DATABASE_URL" in str(MIGRATION)


def test_a_worker_has_the_time_to_drain():
    [container] = DEPLOYMENTS["worker"]["containers"]
    [drain_s] = [each["value"] for each in container["env"] if each["name"] == "MESHGRADE_DRAIN_S"]
    assert float(drain_s) < DEPLOYMENTS["worker"]["terminationGracePeriodSeconds"]


def test_a_backup_is_made_every_night_on_a_volume_that_stays():
    [container] = PODS["backup"]["containers"]
    command, folder, *options = container["args"]
    assert (command, options[0]) == ("backup", "--keep")
    assert int(options[1]) >= 7
    assert folder in [mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "backups"]
    assert "backups" in [name for (kind, name) in OBJECTS if kind == "PersistentVolumeClaim"]
    assert re.fullmatch(r"\d+ \d+ \* \* \*", BACKUP["schedule"])
    assert BACKUP["concurrencyPolicy"] == "Forbid"
    # By the label with which network.yaml lets a pod reach the database.
    labels = BACKUP["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert OBJECTS["NetworkPolicy", "database"]["spec"]["podSelector"]["matchLabels"].items() <= labels.items()


def test_a_migration_reaches_the_database_and_makes_room_for_the_next():
    # By the label with which network.yaml lets a pod reach the database.
    labels = MIGRATION["metadata"]["labels"]
    assert OBJECTS["NetworkPolicy", "database"]["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    assert OBJECTS["Job", "migrate"]["spec"]["ttlSecondsAfterFinished"] <= 3600
    assert [each["args"] for each in MIGRATION["spec"]["containers"]] == [["migrate"]]


def test_no_secret_has_a_value():
    for (kind, _), each in OBJECTS.items():
        if kind == "Secret":
            assert set(each["stringData"].values()) == {""}
            assert "data" not in each


def test_probes_ask_for_what_exists():
    [api], [worker] = DEPLOYMENTS["api"]["containers"], DEPLOYMENTS["worker"]["containers"]
    [port] = api["ports"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert api[probe]["httpGet"]["port"] == port["name"]
        assert api[probe]["httpGet"]["path"] in HEALTH
    # The liveness probe must not depend on the database: otherwise a restart of it would restart everything.
    assert api["livenessProbe"]["httpGet"]["path"] == "/healthz"
    # Without a worker, /readyz is false, and the pages must stay up.
    assert api["readinessProbe"]["httpGet"]["path"] == "/healthz"
    assert worker["startupProbe"]["exec"]["command"][:3] == [".venv/bin/python", "-m", "app.entry.cli"]
    assert worker["startupProbe"]["exec"]["command"][3] in COMMANDS


def test_a_start_may_wait_for_a_migration():
    """A server takes the lock that a migration holds before it listens, and makes the tables of an empty database."""
    [api] = DEPLOYMENTS["api"]["containers"]
    assert api["startupProbe"]["periodSeconds"] * api["startupProbe"]["failureThreshold"] >= 3600
    assert "startupProbe" not in MIGRATION["spec"]["containers"][0]


def test_the_workers_sandbox_may_make_namespaces_and_the_api_may_not():
    assert DEPLOYMENTS["worker"]["securityContext"]["seccompProfile"] == {
        "type": "Localhost",
        "localhostProfile": "meshgrade/docker-seccomp.json",
    }
    assert (FOLDER.parent / "docker-seccomp.json").is_file()
    assert DEPLOYMENTS["api"]["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert "appArmorProfile" not in DEPLOYMENTS["api"]["securityContext"]


@pytest.mark.parametrize("component", ["api", "worker"])
def test_selectors_find_their_pods(component):
    labels = {"app.kubernetes.io/name": "meshgrade", "app.kubernetes.io/component": component}
    deployment = OBJECTS["Deployment", component]["spec"]
    assert deployment["selector"]["matchLabels"] == deployment["template"]["metadata"]["labels"] == labels
    if component == "api":
        assert OBJECTS["Service", "api"]["spec"]["selector"] == labels
        assert OBJECTS["PodDisruptionBudget", "api"]["spec"]["selector"]["matchLabels"] == labels
        assert OBJECTS["PodDisruptionBudget", "api"]["spec"]["minAvailable"] < deployment["replicas"]


def test_workers_reach_the_database_alone():
    policies = {name: each["spec"] for (kind, name), each in OBJECTS.items() if kind == "NetworkPolicy"}
    labels = OBJECTS["Deployment", "worker"]["spec"]["template"]["metadata"]["labels"].items()
    applying = {
        name: spec for name, spec in policies.items() if spec["podSelector"].get("matchLabels", {}).items() <= labels
    }
    assert set(applying) == {"nothing", "database"}
    assert applying["nothing"]["policyTypes"] == ["Ingress", "Egress"]
    assert not any("ingress" in spec for spec in applying.values())
    ports = {(port["protocol"], port["port"]) for rule in applying["database"]["egress"] for port in rule["ports"]}
    assert ports == {("TCP", 5432), ("UDP", 53), ("TCP", 53)}
    assert all(rule["to"] for rule in applying["database"]["egress"])


def test_workers_are_scaled_by_the_queue():
    spec = OBJECTS["ScaledObject", "worker"]["spec"]
    assert ("Deployment", spec["scaleTargetRef"]["name"]) in OBJECTS
    assert "replicas" not in OBJECTS["Deployment", "worker"]["spec"]
    assert spec["minReplicaCount"] >= 1
    [trigger] = spec["triggers"]
    [reference] = OBJECTS["TriggerAuthentication", trigger["authenticationRef"]["name"]]["spec"]["secretTargetRef"]
    assert reference["key"] in OBJECTS["Secret", reference["name"]]["stringData"]
    # That the databases answer the query is tested in tests/app/operations/operating/test_attempt_statistics.py.
    assert trigger["metadata"]["targetQueryValue"].isdecimal()
