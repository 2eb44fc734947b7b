"""compose.yaml: pinned, without root, without a default password, and each part only with what it needs."""

import re
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
import yaml
from sqlalchemy import make_url

from app.core.database_roles import server_role, worker_role
from app.core.settings import Settings
from app.entry.cli.__main__ import COMMANDS
from grader.sandbox.task_limits import needed_tasks

CHECKOUT = Path(__file__).resolve().parents[2]
TEXT = (CHECKOUT / "compose.yaml").read_text()
COMPOSE = yaml.safe_load(TEXT)
SERVICES = COMPOSE["services"]
each_service = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)


def test_there_is_a_database_an_api_and_two_workers():
    assert set(SERVICES) == {"database", "migrate", "api", "worker"}
    assert SERVICES["worker"]["deploy"]["replicas"] == 2


@each_service
def test_every_image_is_pinned(service):
    release = service["image"].removesuffix("${POSTGRES_DIGEST:-}")
    assert re.search(r":\d+\.\d+(\.\d+)?(-\w+)?$", release)


def test_images_from_elsewhere_can_be_pinned_to_a_digest():
    """The same variables are in deploy/README.md, and in the Dockerfile for the image that is built here."""
    assert SERVICES["database"]["image"].endswith("${POSTGRES_DIGEST:-}")
    for name in ("migrate", "api", "worker"):
        assert SERVICES[name]["build"] == {"context": ".", "args": {"PYTHON_DIGEST": "${PYTHON_DIGEST:-}"}}
    guide = (CHECKOUT / "deploy" / "README.md").read_text()
    assert "`PYTHON_DIGEST=@sha256:" in guide
    assert "`POSTGRES_DIGEST=@sha256:" in guide


@each_service
def test_nothing_is_privileged_and_roots_are_read_only(service):
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "network_mode", "userns_mode", "user"} & set(service)
    assert service["read_only"] is True
    assert "no-new-privileges:true" in service["security_opt"]
    for volume in service.get("volumes", []):
        # By name: nothing of the machine's own file system.
        assert volume.partition(":")[0] in COMPOSE["volumes"]


@each_service
def test_everything_has_its_limits_and_is_started_again(service):
    assert {"cpus", "memory", "pids"} == set(service["deploy"]["resources"]["limits"])
    # A migration that has ended is done.
    assert service["restart"] == ("no" if service.get("command") == ["migrate"] else "unless-stopped")


def test_a_worker_may_have_the_tasks_of_all_its_forks_on_a_machine_with_16_cores():
    worker = SERVICES["worker"]
    slots = int(worker["environment"]["MESHGRADE_GRADING_SLOTS"])
    kept = [1, 16 + 1, Settings.model_fields["pool_problems"].default_factory(), slots, 16]
    assert worker["deploy"]["resources"]["limits"]["pids"] >= needed_tasks(slots, sum(kept))


@pytest.mark.parametrize("name", ["api", "worker", "migrate"])
def test_ours_have_no_capability_and_a_command_that_exists(name):
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert len(service["command"]) == 1
    assert service["command"][0] in COMMANDS
    assert service["depends_on"]["database"]["condition"] == "service_healthy"
    if name != "migrate":
        assert service["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


@pytest.mark.parametrize("name", ["api", "worker"])
def test_every_setting_exists(name):
    for variable in SERVICES[name]["environment"]:
        assert variable.removeprefix("MESHGRADE_").lower() in Settings.model_fields, variable


def test_there_is_no_default_password():
    uses = re.findall(r"\$\{(\w+)_PASSWORD([^}]*)\}", TEXT)
    assert sorted(name for name, _ in uses) == sorted(2 * ["POSTGRES", "SERVER", "WORKER"])
    assert all(use.startswith(":?") for _, use in uses)
    for variable in re.findall(r"\$\{(MESHGRADE_\w*TOKEN[^}]*)\}", TEXT):
        assert variable.endswith(":-")


def test_each_has_a_role_of_its_own_in_the_database():
    url = {name: SERVICES[name]["environment"]["MESHGRADE_DATABASE_URL"] for name in ("migrate", "api", "worker")}
    assert [make_url(re.sub(r"\$\{.*?\}", "x", url[name])).username for name in url] == [
        SERVICES["database"]["environment"]["POSTGRES_USER"],
        server_role("meshgrade"),
        worker_role("meshgrade"),
    ]


def test_the_database_runs_the_script_that_creates_the_roles():
    """tests/app/core/test_database_roles.py runs it."""
    [mounted] = SERVICES["database"]["configs"]
    assert mounted["target"] == "/docker-entrypoint-initdb.d/roles.sh"
    assert COMPOSE["configs"][mounted["source"]] == {"file": "deploy/postgresql-roles.sh"}
    script = (CHECKOUT / "deploy" / "postgresql-roles.sh").read_text()
    assert set(re.findall(r"\$([A-Z]\w+)", script)) <= SERVICES["database"]["environment"].keys()


def test_only_the_worker_has_the_sandbox_profile_and_it_is_there():
    options = SERVICES["worker"]["security_opt"]
    [profile] = [option.removeprefix("seccomp=") for option in options if option.startswith("seccomp=")]
    assert (CHECKOUT / profile).is_file()
    for name in ("api", "database"):
        assert SERVICES[name]["security_opt"] == ["no-new-privileges:true"]


def test_workers_reach_the_database_alone():
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert SERVICES["worker"]["networks"] == SERVICES["database"]["networks"] == ["inside"]
    assert "ports" not in SERVICES["worker"]
    assert "ports" not in SERVICES["database"]


def test_the_api_believes_the_gateway_of_its_network_alone():
    """Where a proxy on the machine comes from. Without it, all clients would have one address."""
    [network] = COMPOSE["networks"]["outside"]["ipam"]["config"]
    assert SERVICES["api"]["environment"]["MESHGRADE_PROXIES"] == f"${{MESHGRADE_PROXIES:-{network['gateway']}}}"
    assert ip_address(network["gateway"]) in ip_network(network["subnet"])


def test_a_worker_has_the_time_to_drain():
    worker = SERVICES["worker"]
    assert worker["stop_grace_period"] == "2m"
    assert float(worker["environment"]["MESHGRADE_DRAIN_S"]) < 120


def test_the_api_is_reached_from_this_machine_alone_and_does_not_grade():
    for port in SERVICES["api"]["ports"]:
        assert port.startswith("127.0.0.1:")
    assert SERVICES["api"]["environment"]["MESHGRADE_GRADING_SLOTS"] == "0"


def test_the_health_of_each_is_known_as_far_as_it_has_any():
    assert SERVICES["database"]["healthcheck"]["test"][0] == "CMD"
    assert "healthcheck" not in SERVICES["api"]  # the image's
    assert SERVICES["worker"]["healthcheck"] == {"disable": True}  # it listens nowhere
