"""A client of one node in this process, as tests of a team's server ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from cairn.team.server import TeamApi


@asynccontextmanager
async def asking_node(api: TeamApi, token: str = "") -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client whose requests carry a token; an error of the server is an answer, as over the network."""
    transport = httpx.ASGITransport(app=api.app(), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(transport=transport, base_url="http://team", headers=headers) as client:
        yield client
