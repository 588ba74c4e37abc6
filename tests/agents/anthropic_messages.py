"""Anthropic's Messages, streamed. https://docs.claude.com/en/api/messages-streaming"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from agents.model import Call, Seen, Step, full_name

Event = tuple[str, dict[str, Any]]


class Messages:
    """The protocol of Claude Code."""

    def serves(self, path: str) -> bool:
        """Tell whether a path is the one that models are asked at."""
        return path.endswith("/v1/messages")

    def other(self, path: str) -> dict[str, Any]:
        """Count tokens, or answer nothing."""
        return {"input_tokens": 1}

    def read(self, document: dict[str, Any]) -> Seen:
        """Return what a request says."""
        blocks = [
            block
            for message in document["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        results = [_text(block["content"]) for block in blocks if block["type"] == "tool_result"]
        return Seen([tool["name"] for tool in document.get("tools", ())], results)

    def reply(self, document: dict[str, Any], step: Step) -> Iterator[Event]:
        """Yield the events of an answer."""
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{uuid4().hex}",
            "type": "message",
            "role": "assistant",
            "model": document["model"],
            "content": [],
        }
        yield _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})
        if isinstance(step, Call):
            name = full_name(step, self.read(document).tools)
            number = f"toolu_{uuid4().hex}"
            block = {"type": "tool_use", "id": number, "name": name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
            reason = "tool_use"
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": step}
            reason = "end_turn"
        yield _event("content_block_start", index=0, content_block=block)
        yield _event("content_block_delta", index=0, delta=delta)
        yield _event("content_block_stop", index=0)
        yield _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 1})
        yield _event("message_stop")


def _event(name: str, **data: object) -> Event:
    return name, {"type": name, **data}


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
