"""Runs a team's server: a socket, uvicorn, and an orderly shutdown."""

from __future__ import annotations

import logging
import socket
from contextlib import ExitStack, closing
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
    """Answer requests until a signal stops it.

    Args:
        catalog: with the role of a node.
        objects: the object store.
        folder: for this node's copies.
        host, port: where to listen; port 0 for any free one, which is logged.
        max_open: the maximal number of open projects.
        name: the node's name for operators; by default its machine and port.
        keeps_queries: whether the audit log keeps the words of questions.
        sign_in: the routes for signing in; None if operators make all tokens.

    Raises:
        ConfigError: if it cannot listen there, or cannot write to the folder.
    """
    with ExitStack() as stack:
        listener = stack.enter_context(closing(_listen(host, port)))
        try:
            node = stack.enter_context(closing(SearchNode(catalog, objects, folder, max_open=max_open)))
        except OSError as error:
            raise ConfigError(f"cannot keep copies in {folder}: {error.strerror}", "name another folder") from error
        audit = stack.enter_context(closing(AuditLog(catalog, keeps_queries=keeps_queries)))
        api = TeamApi(catalog, node, audit=audit, sign_in=sign_in)
        name = name or f"{socket.gethostname()}:{listener.getsockname()[1]}"
        stack.enter_context(closing(Presence(catalog, "node", name, api.figures)))
        _log.info("listening at http://%s:%d", host, listener.getsockname()[1])
        uvicorn.Server(_config_of(api)).run(sockets=[listener])


def _config_of(api: TeamApi) -> uvicorn.Config:
    return uvicorn.Config(
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
