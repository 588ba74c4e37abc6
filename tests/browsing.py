"""A person at a browser who looks at the pages of a daemon."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, ConsoleMessage, Dialog, Page

from serving import Served


class Visitor:
    """A person at a browser, signed in, with everything that went wrong on the way."""

    def __init__(self, context: BrowserContext, served: Served) -> None:
        self.base = f"http://127.0.0.1:{served.port}"
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self.page = context.new_page()
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.on("request", lambda request: self.requests.append(request.url))
        status, link = served.ask("POST", "/api/ui/link", {"path": "/"})
        assert status == 200
        self.page.goto(f"{self.base}{link['path']}")
        self.page.wait_for_url(f"{self.base}/")

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.troubles.append(said.text)

    def _dismiss(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def go(self, path: str) -> Page:
        if "ID" in path:
            self.page.goto(f"{self.base}/memories")
            address = self.page.locator("#list .rows a").first.get_attribute("href")
            path = path.replace("/memories/ID", str(address))
        self.page.goto(f"{self.base}{path}")
        return self.page
