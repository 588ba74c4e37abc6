"""A browser without a screen, at the pages of a daemon inside the process of a test."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from cairn.daemon.app import Application
from serving import TOKEN

HOST = "127.0.0.1:37800"


class Browser:
    """A browser that keeps its cookies, at the address of a daemon."""

    def __init__(self, app: Application) -> None:
        self.app = app
        self.cookies = httpx.Cookies()

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:  # noqa: ANN401 - of httpx
        async def send() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{HOST}", cookies=self.cookies
            ) as client:
                got = await client.request(method, path, **options)
                self.cookies = client.cookies
            if noting := asyncio.all_tasks() - {asyncio.current_task()}:  # questions are noted once they are answered
                await asyncio.wait(noting, timeout=5)
            return got

        return asyncio.run(send())

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, data: dict[str, Any], **headers: str) -> httpx.Response:
        given = {"origin": f"http://{HOST}", "referer": f"http://{HOST}{path}", **headers}
        return self.ask("POST", path, data=data, headers=given)

    def link(self, path: str = "/") -> str:
        headers = {"authorization": f"Bearer {TOKEN}"}
        got = self.ask("POST", "/api/ui/link", json={"path": path}, headers=headers)
        assert got.status_code == 200
        return str(got.json()["path"])

    def sign_in(self) -> None:
        assert self.get(self.link()).status_code == 200
