"""Google's streamGenerateContent. https://ai.google.dev/api/generate-content"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.model import Call, Seen, Step, full_name

Event = tuple[str, dict[str, Any]]


class GenerateContent:
    """The protocol of Gemini CLI."""

    def serves(self, path: str) -> bool:
        """Tell whether a path is the one that models are asked at."""
        return path.endswith(":streamGenerateContent")

    def other(self, path: str) -> dict[str, Any]:
        """Count tokens, or answer a small question that is not streamed."""
        return {"totalTokens": 1, "candidates": [{"content": {"role": "model", "parts": [{"text": "{}"}]}}]}

    def read(self, document: dict[str, Any]) -> Seen:
        """Return what a request says."""
        declared = [one for tool in document.get("tools", ()) for one in tool.get("functionDeclarations", ())]
        parts = [part for content in document["contents"] for part in content.get("parts", ())]
        answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        return Seen([one["name"] for one in declared], [_text(answer) for answer in answers])

    def reply(self, document: dict[str, Any], step: Step) -> Iterator[Event]:
        """Yield the one event of an answer."""
        part: dict[str, Any] = {"text": step}
        if isinstance(step, Call):
            name = full_name(step, self.read(document).tools)
            part = {"functionCall": {"name": name, "args": step.arguments}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        yield "", {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def _text(answer: dict[str, Any]) -> str:
    return str(answer.get("output", answer))
