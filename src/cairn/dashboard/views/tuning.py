"""The tuning of answers to a project: versions with their gain on held-out questions, one of them in use."""

from __future__ import annotations

from starlette.responses import Response

from cairn.dashboard.remarks import Remark
from cairn.dashboard.visit import Visit
from cairn.errors import RequestError


async def show(visit: Visit) -> Response:
    """Show all versions, and the data to learn from."""
    status = await visit.ask("optimize/status")
    versions = (await visit.ask("optimize/history"))["versions"]
    chosen = visit.number("version", 0) or status["active"]
    known = {version["number"] for version in versions}
    diff = await visit.ask("optimize/diff", before=0, after=chosen) if chosen in known else {"differences": []}
    return visit.page(
        "tuning.html",
        tuning=status,
        versions=versions,
        chosen=chosen,
        differences=diff["differences"],
        answers=next((version["report"].get("answers") for version in versions if version["number"] == chosen), None),
    )


async def act(visit: Visit) -> Response:
    """Switch to a version, or back to the previous one."""
    form = await visit.form()
    action, number = (form.get(name, [""])[-1] for name in ("action", "version"))
    if action == "apply" and number.isascii() and number.isdigit():
        await visit.ask("optimize/apply", version=int(number[:9]))
        return visit.back("/tuning", Remark(f"Version {number} is used now."))
    if action == "rollback":
        active = (await visit.ask("optimize/rollback"))["active"]
        return visit.back("/tuning", Remark(f"Version {active} is used again."))
    raise RequestError("there is nothing to do", "press one of the buttons")
