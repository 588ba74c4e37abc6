"""The state of a team's server for its operators, as from `cairn team status`, asked with the user's own token."""

from __future__ import annotations

from starlette.responses import Response

from cairn.dashboard.visit import Visit
from cairn.errors import RequestError, TeamError

PATH = "/team"
_MOST = 200  # branches


async def show(visit: Visit) -> Response:
    """Show the state of one server; the site only lets operators get here."""
    servers = visit.operated
    wanted = visit.query.get("server") or servers[0].url
    server = next((one for one in servers if one.url == wanted), None)
    if server is None:
        raise RequestError(f"you do not operate a server at {wanted[:200]!r}", "choose one of the list")
    try:
        state = await visit.daemon.elsewhere.state_of(server, _MOST)
    except TeamError as error:
        visit.note(str(error), is_error=True, hint=str(error.hint))
        state = None
    return visit.page("team.html", server=server, servers=servers, state=state)
