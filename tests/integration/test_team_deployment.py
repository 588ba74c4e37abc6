"""The files of `deploy/`: what they name is there, and what they promise of a database holds."""

from __future__ import annotations

import json
import logging
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

pytest.importorskip("psycopg", reason="needs the extra `team`")

from cairn.cli.commands import build_parser
from cairn.errors import CatalogError
from cairn.team.catalog import Catalog
from cairn.team.doctor import examine
from cairn.team.logs import JsonLines
from cairn.team.metrics import NodeMetrics, serve_worker_metrics
from cairn.team.objects import Objects
from postgres import Postgres, find_programs, postgres
from team_installation import find_haproxy

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
_PROGRAMS = find_programs()
needs_postgres = pytest.mark.skipif(_PROGRAMS is None, reason="needs PostgreSQL: apt install postgresql")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    assert _PROGRAMS is not None
    with postgres(_PROGRAMS) as running:
        catalog = Catalog(running.address)
        catalog.migrate()
        catalog.close()
        yield running


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return found


@pytest.mark.parametrize("name", ["node1", "node2", "worker1", "worker2", "migrate"])
def test_a_service_runs_a_command_that_there_is_without_privileges(name: str) -> None:
    service = services()[name]

    build_parser().parse_args(["team", *service["command"]])
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert {"CAIRN_TEAM_DATABASE", "CAIRN_TEAM_OBJECTS"} <= set(service["environment"])


def test_nodes_are_given_all_variables_of_signing_in() -> None:
    told = set(re.findall(r"`(CAIRN_TEAM_(?:SIGN_IN|WEBHOOK)\w*)`", (DEPLOY.parent / "docs" / "team.md").read_text()))
    assert len(told) == 5
    assert all(told <= set(services()[name]["environment"]) for name in ("node1", "node2"))
    assert not told & set(services()["worker1"]["environment"])


def test_no_secret_is_written_down_and_the_proxy_knows_the_nodes() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    assert len(re.findall(r"(?m)^\s*(?:\w*PASSWORD|\w*SECRET\w*): (?!\$\{|\"\$\{)", text)) == 0
    servers = re.findall(r"(?m)^    server (\w+) (\w+):37700$", (DEPLOY / "helm" / "haproxy.cfg").read_text())
    assert servers == [("node1", "node1"), ("node2", "node2")]
    assert {name for name, _ in servers} <= set(services())


@needs_postgres
def test_the_logins_of_the_deployment_may_do_what_they_need_and_no_more(server: Postgres, tmp_path: Path) -> None:
    assert _PROGRAMS is not None
    for _ in range(2):
        subprocess.run(
            [
                shutil.which("psql", path=f"{_PROGRAMS}:/usr/bin") or "psql", server.address, "-v", "ON_ERROR_STOP=1",
                "-v", "node=it's a secret", "-v", "worker=other", "-q", "-f", str(DEPLOY / "logins.sql"),
            ],
            check=True, capture_output=True,
        )  # fmt: skip
    owner = Catalog(server.address)
    assert [look.name for look in examine(owner, Objects(f"file://{tmp_path}/bucket")) if look.problem] == []
    logins = (("node", "cairn_node"), ("node", "cairn_login"), ("worker", "cairn_worker"))
    for login, role in logins:
        address = re.sub("user=[^&]+", f"user=cairn_{login}_login", server.address)
        catalog = Catalog(address, role)  # type: ignore[arg-type] # one of its roles
        catalog.ping()
        for statement in ("DELETE FROM project", "SELECT * FROM token", "SET ROLE postgres"):
            with pytest.raises(CatalogError, match="permission denied"), catalog.transaction() as connection:
                connection.execute(statement.encode())
        catalog.close()
    owner.close()


@needs_postgres
def test_the_doctor_tells_what_is_wrong(server: Postgres, tmp_path: Path) -> None:
    owner = Catalog(server.address)
    with owner.transaction() as connection:
        connection.execute(
            "CREATE ROLE mighty SUPERUSER; GRANT cairn_node TO mighty; ALTER TABLE access DISABLE ROW LEVEL SECURITY"
        )
        connection.execute(
            "CREATE ROLE rich CREATEROLE; GRANT cairn_login TO rich; GRANT SELECT ON token TO cairn_login"
        )
        connection.execute("DELETE FROM migration WHERE name LIKE '0007%'")
        connection.execute(
            """INSERT INTO project (organisation, name, url) VALUES ('acme', 'shop', 'file:///x');
               INSERT INTO branch (project_id, name, is_default, wanted, wanted_at, generation)
                   SELECT id, 'main', true, repeat('a', 40), now() - interval '1 hour', 1 FROM project;
               INSERT INTO branch (project_id, name, is_default, look_problem) SELECT id, 'x', false, 'no' FROM project;
               INSERT INTO piece SELECT id, 1, 'tree', 'tree', repeat('0', 64) FROM branch WHERE is_default"""
        )
    try:
        (tmp_path / "file").write_text("no folder")
        found = {look.name: look.problem for look in examine(owner, Objects(f"file://{tmp_path}/bucket"))}
    finally:
        with owner.transaction() as connection:
            connection.execute("ALTER TABLE access ENABLE ROW LEVEL SECURITY; DROP ROLE mighty; DELETE FROM project")
            connection.execute("REVOKE SELECT ON token FROM cairn_login; DROP ROLE rich")
            connection.execute("INSERT INTO migration VALUES ('0007_queue.sql')")
        owner.close()

    assert found["database"] == found["clock"] == found["object store"] == found["nodes"] == found["workers"] == ""
    assert found["tables"] == "steps are missing: 0007_queue.sql"
    assert found["roles"].endswith(": mighty, rich")
    assert found["row security"] == "nodes may read all of: access, token"
    assert found["published objects"] == "the store lacks 1 of 1 objects that were looked for"
    assert found["failures"] == "branches whose repository cannot be reached: 1"
    assert found["queue"] == "branches that wait for a worker for over 10 minutes: 1"


@needs_postgres
def test_the_doctor_tells_which_nodes_and_workers_are_silent(server: Postgres, tmp_path: Path) -> None:
    def looked_at() -> dict[str, str]:
        found = {look.name: look.problem for look in examine(owner, Objects(f"file://{tmp_path}/bucket"))}
        return {name: found[name] for name in ("nodes", "workers")}

    owner = Catalog(server.address)
    try:
        with owner.transaction() as connection:
            connection.execute(
                """INSERT INTO part SELECT kind, kind || number, '1', now(), now() - number * interval '1 minute', '{}'
                   FROM (VALUES ('node'), ('worker')) AS kinds (kind), generate_series(0, 12) AS number"""
            )
            connection.execute("DELETE FROM part WHERE kind = 'worker' AND name NOT IN ('worker0', 'worker2')")
        found = looked_at()
        with owner.transaction() as connection:
            connection.execute("UPDATE part SET heard_at = now()")
        after = looked_at()
    finally:
        with owner.transaction() as connection:
            connection.execute("DELETE FROM part")
        owner.close()

    assert re.fullmatch(r"silent: worker2 since [-\dT:]{19}", found["workers"])
    assert re.findall(r"(node\d+) since", found["nodes"]) == [f"node{number}" for number in range(1, 11)]
    assert found["nodes"].endswith(", and 2 more")
    assert after == {"nodes": "", "workers": ""}


def counts(text: str) -> set[str]:
    return set(re.findall(r"(?m)^# TYPE (\w+)", text))


@needs_postgres
def test_every_figure_of_the_grafana_dashboard_is_there(server: Postgres) -> None:
    node = NodeMetrics(n_open=lambda: 1, n_opened=lambda: 2, n_waiting=lambda: 3, n_lost=lambda: 4)
    node.count("search", 200, 0.03)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    catalog = Catalog(server.address, "cairn_worker")
    serve_worker_metrics(catalog, "127.0.0.1", port)
    of_worker = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    catalog.close()

    assert 'cairn_branches{state="failed"} 0.0' in of_worker
    assert 'cairn_requests_total{operation="search",status="200"} 1.0' in node.text().decode()
    text = (DEPLOY / "grafana.json").read_text()
    used = {name for panel in json.loads(text)["panels"] for target in panel["targets"]
            for name in re.findall(r"(?:cairn|process)_\w+", target["expr"])}  # fmt: skip
    bases = {re.sub("_bucket$", "", name) for name in used}
    assert bases
    assert bases <= counts(node.text().decode()) | counts(of_worker)


@pytest.mark.skipif(find_haproxy() is None, reason="needs HAProxy: apt install haproxy")
def test_the_proxy_of_the_chart_counts_by_the_address_that_the_ingress_says(tmp_path: Path) -> None:
    template = (DEPLOY / "helm" / "templates" / "front.yaml").read_text()
    (pair,) = re.findall(r'\{\{- \$text = replace ("(?:[^"])*") ("(?:[^"])*") \$text \}\}', template)
    before, after = (json.loads(text) for text in pair)
    text = (DEPLOY / "helm" / "haproxy.cfg").read_text()
    assert text.count(before) == 1
    text = re.sub(r"(?m)^    bind .*$", "    bind 127.0.0.1:8080", text.replace(before, after))
    (tmp_path / "haproxy.cfg").write_text(re.sub(r"(?m)^    server .*\n?", "", text))
    assert text.index("set-src hdr(x-forwarded-for)") < text.index("track-sc0 src")

    subprocess.run([str(find_haproxy()), "-c", "-f", str(tmp_path / "haproxy.cfg")], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("helm") is None, reason="needs helm")
def test_the_chart_is_rendered() -> None:
    rendered = subprocess.run(
        ["helm", "template", "team", str(DEPLOY / "helm"), "--set", "gitSecret=git"], check=True, capture_output=True
    ).stdout
    kinds = [document["kind"] for document in yaml.safe_load_all(rendered) if document]
    assert sorted(kinds) == [
        "ConfigMap", "CronJob", "Deployment", "Deployment", "Job", "Service", "Service", "StatefulSet",
    ]  # fmt: skip


def test_commands_of_the_chart_are_there() -> None:
    for file in (DEPLOY / "helm" / "templates").glob("*.yaml"):
        for words in re.findall(r"(?m)^\s*args: \[(.*)\]$", file.read_text()):
            build_parser().parse_args(["team", *(word.strip().strip('"') for word in words.split(","))])


def test_a_line_of_the_log_is_one_object_whatever_it_says(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        logging.getLogger("cairn.team").info('a "quote"\nand %s', "\x1b[31m", extra={"request": "r1", "ms": 1.5})
    line = JsonLines().format(caplog.records[0])
    assert "\n" not in line
    assert json.loads(line) | {"time": ""} == {
        "time": "", "level": "info", "logger": "cairn.team", "message": 'a "quote"\nand \x1b[31m', "request": "r1",
        "ms": 1.5,
    }  # fmt: skip
