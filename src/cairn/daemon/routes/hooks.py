"""`/api/hook`: receives the hook program's events, and returns the agent's answers."""

from __future__ import annotations

from cairn.daemon.http import TEXT, Request, Response, Route
from cairn.hooks.raw_spool import MAX_ENVELOPE_BYTES

MEDIA_TYPE = "application/octet-stream"


async def _hook(request: Request) -> Response:
    content = await request.read_body(MEDIA_TYPE, MAX_ENVELOPE_BYTES)
    return Response(await request.daemon.hooks.answer(content), kind=TEXT)


ROUTES = [Route("POST", "/api/hook", _hook, "Report an event as its agent describes it", takes=MEDIA_TYPE, answer=str)]
