"""Runs the server of a team: a socket, uvicorn, and an end in order."""

from __future__ import annotations

import logging
import socket
from pathlib import Path

import uvicorn

from cairn.errors import ConfigError
from cairn.team.audit import AuditLog
from cairn.team.catalog import Catalog
from cairn.team.login_routes import SignInRoutes
from cairn.team.node import SearchNode
from cairn.team.objects import Objects
from cairn.team.server import TeamApi
from cairn.team.state import Presence
from cairn.team.whole_answers import WholeAnswers

_log = logging.getLogger("cairn.team")
_GRACE_SECONDS = 10
_MAX_CONNECTIONS, _BACKLOG = 1_024, 256


def serve(
    catalog: Catalog,
    objects: Objects,
    folder: Path,
    host: str,
    port: int,
    *,
    max_open: int = 64,
    name: str = "",
    keeps_queries: bool = False,
    sign_in: SignInRoutes | None = None,
) -> None:
    """Answer requests until a signal says to stop.

    Args:
        catalog: with the role of a node.
        objects: where generations are.
        folder: of this node's copies.
        host, port: where to listen; port 0 for any, which the log then tells.
        max_open: projects at once.
        name: what operators know this node by; by default its machine and port.
        keeps_queries: in the audit, also what was asked for.
        sign_in: where people get tokens; None if operators make all of them.

    Raises:
        ConfigError: if it cannot listen there, or cannot write to the folder.
    """
    listener = _listen(host, port)
    try:
        node = SearchNode(catalog, objects, folder, max_open=max_open)
    except OSError as error:
        listener.close()
        raise ConfigError(f"cannot keep copies in {folder}: {error.strerror}", "name another folder") from error
    audit = AuditLog(catalog, keeps_queries=keeps_queries)
    api = TeamApi(catalog, node, audit=audit, sign_in=sign_in)
    presence = Presence(catalog, "node", name or f"{socket.gethostname()}:{listener.getsockname()[1]}", api.figures)
    config = uvicorn.Config(
        api.app(),
        http=WholeAnswers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    _log.info("listening at http://%s:%d", host, listener.getsockname()[1])
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        presence.close()
        audit.close()
        node.close()
        listener.close()


def _listen(host: str, port: int) -> socket.socket:
    # asyncio sends without waiting for acknowledgements (TCP_NODELAY) only if the protocol is given.
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(f"cannot listen at {host}:{port}: {error.strerror}", "name another port") from error
    return listener
