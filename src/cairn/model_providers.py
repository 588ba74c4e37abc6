"""The providers of embedding models: a row for each, with what is true of the provider whatever the model.

Detection looks for the providers in the order of the rows. A provider is a row here and a module of the same name in
`embedding/`, which asks it; CONTRIBUTING.md walks you through it.
"""

from __future__ import annotations

from typing import NamedTuple


class Provider(NamedTuple):
    """A server or a library that embeds texts.

    Attributes:
        is_local: whether it runs in this process.
        url: where it is asked unless the user names another server.
        key_variable: the environment variable with the key for that address; empty when it needs none.
        other_variables: more of them, for a key that is not in the first.
        key_command: prints the key for that address, if it is in none of the variables.
        chunks_per_second: assumed until a model was measured: a small model on a laptop, a distant server.
        start_hint: how to start it when nothing answers, with `{model}` for the model; empty for the common hint.
        most_at_once, requests_per_minute: what its own address allows; 0 for no limit that is known.
        has_own_prices: whether it charges what is known of the model.
        detected_model: what detection uses; empty if it does not look for this provider.
    """

    is_local: bool = False
    url: str = ""
    key_variable: str = ""
    other_variables: tuple[str, ...] = ()
    key_command: tuple[str, ...] = ()
    chunks_per_second: float = 10.0
    start_hint: str = ""
    most_at_once: int = 0
    requests_per_minute: int = 0
    has_own_prices: bool = True
    detected_model: str = ""


PROVIDERS = {
    "bundled": Provider(is_local=True),  # its vectors are part of the index, so no module asks for them
    "github": Provider(
        url="https://models.github.ai/inference",
        key_variable="GITHUB_TOKEN",
        other_variables=("GH_TOKEN",),
        key_command=("gh", "auth", "token"),
        # https://docs.github.com/en/github-models/use-github-models/prototyping-with-ai-models#rate-limits
        most_at_once=1,
        requests_per_minute=15,
        has_own_prices=False,
        detected_model="openai/text-embedding-3-small",
    ),
    "openai": Provider(
        url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        chunks_per_second=100.0,
        detected_model="text-embedding-3-small",
    ),
    "google": Provider(
        url="https://generativelanguage.googleapis.com/v1beta",
        key_variable="GEMINI_API_KEY",
        chunks_per_second=60.0,
        detected_model="gemini-embedding-001",
    ),
    "ollama": Provider(
        url="http://localhost:11434",
        chunks_per_second=20.0,
        start_hint="start it and fetch the model: ollama serve; ollama pull {model}",
        detected_model="nomic-embed-text",
    ),
    "fastembed": Provider(is_local=True),
    "sentence-transformers": Provider(is_local=True),
}
