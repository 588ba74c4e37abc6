"""Asks a chat model that the user configured, once and within a time: Ollama, or a server that speaks as OpenAI does.

This is not even imported unless `memory.chat_provider` is set.
"""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import httpx

from cairn.errors import ProviderError, ProviderKeyError
from cairn.memory_settings import MAX_ANSWER_TOKENS, MemorySettings
from cairn.model_providers import PROVIDERS
from cairn.model_settings import is_loopback

_MAX_ANSWER_BYTES = 1_000_000
_HINT = "check memory.chat_url and memory.chat_model, see docs/configuration.md#memory"


class ChatReply(NamedTuple):
    """What a model answered, and the tokens it counted; 0 where it did not say."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


class ChatWire(Protocol):
    """The protocol of a chat server."""

    def url(self, base_url: str) -> str:
        """Return where a question is sent."""
        ...

    def body(self, model: str, messages: list[dict[str, str]], base_url: str) -> dict[str, Any]:
        """Return the request."""
        ...

    def reply(self, document: Any) -> ChatReply:  # noqa: ANN401 - JSON
        """Return the answer.

        Raises:
            KeyError, TypeError, IndexError: if it is not shaped as documented.
        """
        ...


class OllamaChat:
    """Ollama's `/api/chat`, as https://docs.ollama.com/api/chat has it."""

    def url(self, base_url: str) -> str:
        """Return where a question is sent."""
        return f"{base_url}/api/chat"

    def body(self, model: str, messages: list[dict[str, str]], base_url: str) -> dict[str, Any]:
        """Return the request; the server makes sure that the answer is JSON."""
        options = {"temperature": 0, "num_predict": MAX_ANSWER_TOKENS}
        return {"model": model, "messages": messages, "stream": False, "format": "json", "options": options}

    def reply(self, document: Any) -> ChatReply:  # noqa: ANN401 - JSON
        """Return the answer."""
        return ChatReply(
            document["message"]["content"], document.get("prompt_eval_count", 0), document.get("eval_count", 0)
        )


class OpenAIChat:
    """OpenAI's `/v1/chat/completions`, which LM Studio, vLLM, llama.cpp and many others speak, too.

    Only fields that every such server and model takes are sent. OpenAI renamed the limit, and its newer models refuse
    the old name, which others know.
    """

    def url(self, base_url: str) -> str:
        """Return where a question is sent."""
        return f"{base_url}/chat/completions"

    def body(self, model: str, messages: list[dict[str, str]], base_url: str) -> dict[str, Any]:
        """Return the request."""
        limit = "max_completion_tokens" if base_url == PROVIDERS["openai"].url else "max_tokens"
        return {"model": model, "messages": messages, "stream": False, limit: MAX_ANSWER_TOKENS}

    def reply(self, document: Any) -> ChatReply:  # noqa: ANN401 - JSON
        """Return the answer."""
        usage = document.get("usage") or {}
        text = document["choices"][0]["message"]["content"]
        return ChatReply(text, usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


_WIRES: Mapping[str, type[ChatWire]] = {"ollama": OllamaChat, "openai": OpenAIChat}


class ChatClient:
    """Asks the chat model of the user's settings.

    Args:
        settings: with a provider.
        environment: where the key is.
    """

    def __init__(self, settings: MemorySettings, environment: Mapping[str, str] = os.environ) -> None:
        self._settings, self._environment = settings, environment
        self._wire = _WIRES[settings.chat_provider]()
        self.name = f"{settings.chat_provider}:{settings.chat_model}"

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        """The certificates that are trusted; to load them takes longer than to ask."""
        return httpx.create_ssl_context(trust_env=not is_loopback(self._settings.chat_base_url))

    def ask(self, system: str, question: str) -> ChatReply:
        """Return the answer to one question; asks once.

        Raises:
            ProviderError: if there is no answer in time, or none that can be read.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        body = self._wire.body(self._settings.chat_model, messages, self._settings.chat_base_url)
        data = self._post(json.dumps(body).encode("ascii"))
        try:
            reply = self._wire.reply(json.loads(data))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
            raise ProviderError(f"{self.name} returned an answer that cannot be read", _HINT) from error
        if not isinstance(reply.text, str):
            raise ProviderError(f"{self.name} returned an answer without text", _HINT)
        return ChatReply(reply.text, _count(reply.input_tokens), _count(reply.output_tokens))

    def _post(self, content: bytes) -> bytes:
        """Send a request and return the body of the answer; all of it takes little more than the timeout."""
        settings = self._settings
        timeout = settings.chat_timeout_seconds
        deadline = time.monotonic() + timeout
        is_local = is_loopback(settings.chat_base_url)
        headers = {"Content-Type": "application/json"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        data = b""
        try:
            # A proxy in the environment is for other machines. Redirects are not followed: they could leak the key.
            with (
                httpx.Client(verify=self._trusted, trust_env=not is_local, follow_redirects=False) as client,
                client.stream(
                    "POST", self._wire.url(settings.chat_base_url), content=content, headers=headers, timeout=timeout
                ) as answer,
            ):
                for part in answer.iter_bytes():
                    data += part
                    if time.monotonic() > deadline:
                        raise ProviderError(f"{self.name}: no answer within {timeout:g} s", _HINT)
                    if len(data) > _MAX_ANSWER_BYTES:
                        raise ProviderError(f"{self.name}: the answer is longer than 1 MB", _HINT)
                status = answer.status_code
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ProviderError(f"{self.name} does not answer ({type(error).__name__})", _HINT) from error
        if status in (401, 403):
            raise ProviderKeyError(f"{self.name} refuses the key ({status})", _HINT)
        if status != 200:
            raise ProviderError(f"{self.name} answers with status {status}", _HINT)
        return data

    def _key(self) -> str:
        variable = self._settings.chat_key_variable
        if not variable:
            return ""
        if key := self._environment.get(variable, "").strip():
            return key
        raise ProviderKeyError(f"{self.name} needs a key, but {variable} is not set", f"set {variable}")


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < 10**9 else 0
