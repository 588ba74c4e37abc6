"""OpenAI's Chat Completions, streamed. https://platform.openai.com/docs/api-reference/chat-streaming"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agents.model import Call, Seen, Step, full_name

Event = tuple[str, dict[str, Any]]


class Chat:
    """The protocol of OpenCode with a provider of one's own, and of Copilot CLI with a key of one's own."""

    def serves(self, path: str) -> bool:
        """Tell whether a path is the one that models are asked at."""
        return path.endswith("/chat/completions")

    def other(self, path: str) -> dict[str, Any]:
        """List the models."""
        return {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "test"}]}

    def read(self, document: dict[str, Any]) -> Seen:
        """Return what a request says."""
        tools = [tool["function"]["name"] for tool in document.get("tools", ())]
        results = [_text(message["content"]) for message in document["messages"] if message["role"] == "tool"]
        return Seen(tools, results)

    def reply(self, document: dict[str, Any], step: Step) -> Iterator[Event]:
        """Yield the events of an answer."""
        if isinstance(step, Call):
            name = full_name(step, self.read(document).tools)
            function = {"name": name, "arguments": json.dumps(step.arguments)}
            number = f"call_{len(document['messages'])}"
            call = {"index": 0, "id": number, "type": "function", "function": function}
            yield _chunk(document, {"role": "assistant", "content": None, "tool_calls": [call]}, None)
            yield _chunk(document, {}, "tool_calls")
        else:
            yield _chunk(document, {"role": "assistant", "content": step}, None)
            yield _chunk(document, {}, "stop")


def _chunk(document: dict[str, Any], delta: dict[str, Any], reason: str | None) -> Event:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2} if reason else None
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": document["model"]}
    return "", {**chunk, "choices": [choice], "usage": usage}


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
