"""Facts about common embedding models: input limits, task prefixes, prices as of 2026-04."""

from __future__ import annotations

from dataclasses import dataclass

# Code has fewer characters per token than prose; at 3, nearly every text stays below a model's limit.
CHARS_PER_TOKEN_AT_LEAST = 3
DEFAULT_MAX_TOKENS = 512  # the limit of many older models


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model. `max_tokens` is its input limit; `price` is in US dollars per million tokens, 0 if there is none."""

    max_tokens: int = DEFAULT_MAX_TOKENS
    query_prefix: str = ""
    document_prefix: str = ""
    price: float = 0.0


_PASSAGES = "Represent this sentence for searching relevant passages: "
_CODE = "Represent this query for searching relevant code: "
_QWEN = "Instruct: Given a question about a codebase, retrieve the code that answers it\nQuery: "

# By prefix of the model's name without owner and tag; the longest match counts. Sources: model cards,
# https://platform.openai.com/docs/pricing, https://ai.google.dev/gemini-api/docs/pricing.
_MODELS = {
    "nomic-embed-text": ModelFacts(2048, "search_query: ", "search_document: "),
    "nomic-embed-code": ModelFacts(8192, _CODE),
    "coderankembed": ModelFacts(8192, _CODE),
    "all-minilm": ModelFacts(256),
    "mxbai-embed": ModelFacts(512, _PASSAGES),
    "bge-small-en": ModelFacts(512, _PASSAGES),
    "bge-base-en": ModelFacts(512, _PASSAGES),
    "bge-large-en": ModelFacts(512, _PASSAGES),
    "bge-m3": ModelFacts(8192),
    "snowflake-arctic-embed": ModelFacts(512, _PASSAGES),
    "snowflake-arctic-embed2": ModelFacts(8192, "query: "),
    "e5-": ModelFacts(512, "query: ", "passage: "),
    "multilingual-e5": ModelFacts(512, "query: ", "passage: "),
    "embeddinggemma": ModelFacts(2048, "task: code retrieval | query: ", "title: none | text: "),
    "qwen3-embedding": ModelFacts(8192, _QWEN),
    "jina-embeddings-v2": ModelFacts(8192),
    "text-embedding-3-small": ModelFacts(8191, price=0.02),
    "text-embedding-3-large": ModelFacts(8191, price=0.13),
    "text-embedding-ada-002": ModelFacts(8191, price=0.10),
    "gemini-embedding-001": ModelFacts(2048, price=0.15),
    "gemini-embedding-2": ModelFacts(8192, "task: code retrieval | query: ", "title: none | text: ", price=0.20),
}


def facts_of_model(model: str) -> ModelFacts:
    """Return the facts about a model by its name, such as `nomic-ai/nomic-embed-text:v1.5`, or defaults."""
    name = model.lower().rsplit("/", 1)[-1].split(":", 1)[0]
    names = (name, name.removeprefix("text-embedding-"))  # LM Studio puts this before any model's name
    matches = [(len(start), start) for start in _MODELS if any(name.startswith(start) for name in names)]
    return _MODELS[max(matches)[1]] if matches else ModelFacts()
