"""Asks a node everything as many people who may read some projects each, and counts what shows what they may not.

    python bench/leaks.py [--people 50] [--projects 200] [--seed 1] [--rounds 3]

`tests/team_leaks.py` says what is asked and what a leak is. Then it measures how soon somebody is refused: after an
operator has revoked their grant, and after a provider has announced that they were removed.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import hmac
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import httpx

from cairn.team.catalog import Catalog
from cairn.team.login_routes import SignInRoutes
from cairn.team.node import SearchNode
from cairn.team.providers import provider_of
from cairn.team.server import TeamApi
from cairn.team.sign_in import SignIn
from identity_server import CLIENT, SECRET, IdentityServer, Someone
from postgres import find_programs, postgres
from team_cluster import Team
from team_leaks import Company, asking, make_company

_HOOK_SECRET = "secret"
_LONGEST_SECONDS = 120.0
_SIGN_IN_SECONDS = 5  # as the provider wants
_PROJECTS_A_LINE = 10


def main() -> None:
    """Run it and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--projects", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3, help="of each revocation")
    options = parser.parse_args()
    programs = find_programs()
    if programs is None:
        raise SystemExit("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory() as scratch, postgres(programs) as server:
        folder = Path(scratch)
        team = Team(server, folder, "leaks")
        begun = time.perf_counter()
        company = make_company(team, folder, options.people, options.projects, options.seed)
        print(f"published {options.projects} projects in {time.perf_counter() - begun:.0f} s", flush=True)
        asyncio.run(count_leaks(team, company, folder))
        for what, seconds in asyncio.run(time_revocations(team, company, folder, options.rounds)).items():
            print(f"refused after {what}: {', '.join(f'{one:.1f}' for one in seconds)} s")
        team.close()


async def count_leaks(team: Team, company: Company, folder: Path) -> None:
    """Ask everything, and print how much of it leaked, so far and in the end."""
    begun, before = time.perf_counter(), sum(os.times()[:2])
    async with asking(team, company, folder) as asked:
        async for n_done in asked.ask_by_project():
            if n_done % _PROJECTS_A_LINE and n_done < len(company.projects):
                continue
            n_cpu = sum(os.times()[:2]) - before
            print(
                f"{n_done} projects: {asked.n_requests:,} requests, {asked.n_answered:,} of them answered from a "
                f"project, in {time.perf_counter() - begun:.0f} s ({1_000 * n_cpu / asked.n_requests:.2f} ms of CPU "
                f"each): {len(asked.leaks)} leaks",
                flush=True,
            )
    for leak in asked.leaks[:20]:
        print(f"  {leak}")


async def time_revocations(team: Team, company: Company, folder: Path, n_rounds: int) -> dict[str, list[float]]:
    """Return the seconds until a node refuses what it answered the moment before, by what ended it."""
    project = company.projects[0].name
    found: dict[str, list[float]] = {"an operator's command": [], "an announcement of GitHub": []}
    with (
        IdentityServer() as provider,
        closing(Catalog(team.address, "cairn_login")) as catalog,
        closing(SearchNode(team.nodes, team.objects, folder / "revocations")) as node,
    ):
        with team.owner.transaction() as connection:
            connection.execute("UPDATE project SET repository = '127.0.0.1/' || organisation || '/' || name")
        sign_in = SignIn(catalog, provider_of("github", provider.url, CLIENT, SECRET))
        app = TeamApi(team.nodes, node, sign_in=SignInRoutes(sign_in, _HOOK_SECRET)).app()
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://team") as client:
            for number in range(n_rounds):
                person, someone = f"leaver-{number}", Someone(1_000 + number, "gone", {project: False})
                token = team.operator.new_token(person, 1)
                team.operator.grant(person, project)
                revoke = partial(team.operator.revoke, person, project)
                found["an operator's command"].append(await until_refused(client, token, project, revoke))
                code = str(sign_in.begin()["device_code"])
                provider.agree(someone)
                await asyncio.sleep(_SIGN_IN_SECONDS)
                token = str(sign_in.poll(code)["access_token"])
                remove = someone.repositories.clear
                seconds = await until_refused(client, token, project, remove, announced=someone.number)
                found["an announcement of GitHub"].append(seconds)
    return found


async def until_refused(
    client: httpx.AsyncClient, token: str, project: str, end: Callable[[], object], announced: int | None = None
) -> float:
    """End somebody's right to read a project, and return the seconds until they are refused."""

    async def status() -> int:
        headers = {"authorization": f"Bearer {token}"}
        answer = await client.post(f"/api/projects/{project}/outline", json={"file": "README.md"}, headers=headers)
        return answer.status_code

    if await status() != 200:
        raise SystemExit("they may not read it before")
    end()
    begun = time.perf_counter()
    if announced is not None:
        body = json.dumps({"action": "removed", "member": {"id": announced}}).encode()
        signature = hmac.new(_HOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
        headers = {"x-github-event": "member", "x-hub-signature-256": f"sha256={signature}"}
        (await client.post("/api/webhooks/github", content=body, headers=headers)).raise_for_status()
    while time.perf_counter() - begun < _LONGEST_SECONDS and await status() == 200:  # noqa: ASYNC110 - a server's answer
        await asyncio.sleep(0.1)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
