"""What asks the daemon from within hangs on nothing that has ended."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from cairn.mcp.http import InProcess


@pytest.mark.parametrize(("problem", "wanted"), [(ValueError("broken"), "broken"), (None, "without an answer")])
def test_an_application_that_ends_without_an_answer_is_an_error(problem: Exception | None, wanted: str) -> None:
    class Ending:
        daemon = SimpleNamespace(token="secret")

        async def __call__(self, *_: object) -> None:
            if problem is not None:
                raise problem

    app: Any = Ending()
    with pytest.raises((ValueError, RuntimeError), match=wanted):
        asyncio.run(asyncio.wait_for(InProcess(app).send("GET", "/health", None), 30))
