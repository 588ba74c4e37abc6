"""OpenAI's Responses, streamed. https://platform.openai.com/docs/api-reference/responses-streaming"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agents.model import Seen, Step

Event = tuple[str, dict[str, Any]]


class Responses:
    """The protocol of Codex, which groups the tools of a server in a namespace and may hide them behind a search."""

    def serves(self, path: str) -> bool:
        """Tell whether a path is the one that models are asked at."""
        return path.endswith("/responses")

    def other(self, path: str) -> dict[str, Any]:
        """List the models, or answer nothing."""
        return {"object": "list", "data": [], "models": []}

    def read(self, document: dict[str, Any]) -> Seen:
        """Return what a request says."""
        outputs = [item["output"] for item in document["input"] if item.get("type") == "function_call_output"]
        return Seen([name for name, _ in _tools(document)], [_text(one) for one in outputs])

    def reply(self, document: dict[str, Any], step: Step) -> Iterator[Event]:
        """Yield the events of an answer."""
        response = {"id": "resp_1", "object": "response", "status": "in_progress", "output": []}
        yield _event("response.created", response=response)
        item = _item(document, step)
        yield _event("response.output_item.added", output_index=0, item=item)
        yield _event("response.output_item.done", output_index=0, item=item)
        usage = {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        }
        yield _event(
            "response.completed", response={**response, "status": "completed", "output": [item], "usage": usage}
        )


def _event(name: str, **data: object) -> Event:
    return name, {"type": name, **data}


def _item(document: dict[str, Any], step: Step) -> dict[str, Any]:
    number = len(document["input"])
    if isinstance(step, str):
        content = [{"type": "output_text", "text": step, "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    offered = dict(_tools(document))
    call = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "status": "completed"}
    call["arguments"] = json.dumps(step.arguments)
    if step.is_own:
        return {**call, "name": step.tool}
    if (flat := f"mcp__cairn__{step.tool}") in offered and not offered[flat]:
        return {**call, "name": flat}
    if flat not in offered and "tool_search" in offered:
        asked = {"query": f"cairn {step.tool}", "limit": 8}
        return {
            "type": "tool_search_call", "id": f"ts_{number}", "call_id": f"search_{number}",
            "execution": "client", "status": "completed", "arguments": asked,
        }  # fmt: skip
    return {**call, "namespace": "mcp__cairn", "name": step.tool}


def _tools(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the full name of each tool, and the namespace it is in; those that a search found count as offered."""
    found = [item.get("tools", []) for item in document["input"] if item.get("type") == "tool_search_output"]
    for tool in [*document.get("tools", ()), *(one for group in found for one in group)]:
        if tool["type"] == "namespace":
            for one in tool["tools"]:
                yield f"{tool['name'].removesuffix('__')}__{one['name']}", tool["name"]
        else:
            yield tool.get("name", tool["type"]), ""


def _text(output: str | list[dict[str, Any]]) -> str:
    return output if isinstance(output, str) else "".join(part.get("text", "") for part in output)
