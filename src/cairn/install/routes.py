"""`/api/doctor` and `/api/doctor/fix`; their code is imported on first use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from cairn.daemon.app import Application
from cairn.daemon.http import Request, Response, Route
from cairn.hints import HintStyle, show
from cairn.loading import load
from cairn.protocol.requests import ProjectRequest

if TYPE_CHECKING:
    from cairn.index.health import Finding
    from cairn.workspace import Workspace


class RepairableFindingDocument(TypedDict):
    """The finding of one check: how it can be repaired, if at all, and whether it was."""

    check: str
    level: str
    message: str
    hint: str
    repair: str
    fixed: bool


class DoctorDocument(TypedDict):
    """The findings of all checks, and whether no error remains."""

    healthy: bool
    findings: list[RepairableFindingDocument]


def doctor_routes(app: Application) -> Sequence[Route]:
    """Return the routes that examine a project like `cairn doctor`."""
    return [
        Route("GET", "/api/doctor", _examine, "Examine a project and its agents", ProjectRequest, DoctorDocument),
        Route("POST", "/api/doctor/fix", _fix, "Repair what can be repaired", ProjectRequest, DoctorDocument),
    ]


async def _examine(request: Request) -> Response:
    arguments = request.query(ProjectRequest)
    work = partial(_work, request.daemon.projects.registry.folder.path, arguments.hints, fix=False)
    return Response(await request.while_connected(request.daemon.projects.run_apart(arguments.project, work)))


async def _fix(request: Request) -> Response:
    arguments = await request.read(ProjectRequest)
    work = partial(_work, request.daemon.projects.registry.folder.path, arguments.hints, fix=True)
    return Response(await request.daemon.projects.run_apart(arguments.project, work))


def _work(state: Path, hints: HintStyle, workspace: Workspace, *, fix: bool) -> DoctorDocument:
    findings: list[Finding] = load("cairn.install.doctor:examine_all")(workspace, state, fix=fix)
    return {
        "healthy": load("cairn.install.doctor:is_healthy")(findings),
        "findings": [_document(finding, hints) for finding in findings],
    }


def _document(finding: Finding, hints: HintStyle) -> RepairableFindingDocument:
    return {
        "check": finding.check,
        "level": finding.level,
        "message": finding.message,
        "repair": finding.repair,
        "hint": show(finding.hint, hints),
        "fixed": finding.fixed,
    }
