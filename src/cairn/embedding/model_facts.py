"""What is known of common embedding models, as data: input limits, task prefixes, prices."""

from __future__ import annotations

from dataclasses import dataclass

PRICES_AS_OF = "2026-04"
# Code has fewer characters a token than prose; 3 keeps nearly every text below a model's limit.
CHARS_PER_TOKEN_AT_LEAST = 3
DEFAULT_MAX_TOKENS = 512  # what the older half of all models takes


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model. `max_tokens` is its input limit; `price` is in US dollars per million tokens, 0: none."""

    max_tokens: int = DEFAULT_MAX_TOKENS
    query_prefix: str = ""
    document_prefix: str = ""
    price: float = 0.0


_PASSAGES = "Represent this sentence for searching relevant passages: "
_CODE = "Represent this query for searching relevant code: "
_QWEN = "Instruct: Given a question about a codebase, retrieve the code that answers it\nQuery: "

# By the model's name without owner and tag; the longest that a name begins with counts. Sources: the models' own cards,
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
    """Return what is known of a model by its name, such as `nomic-ai/nomic-embed-text:v1.5`."""
    name = model.lower().rsplit("/", 1)[-1].split(":", 1)[0]
    names = (name, name.removeprefix("text-embedding-"))  # LM Studio puts this in front of any model's name
    matches = [(len(one), one) for one in _MODELS if any(given.startswith(one) for given in names)]
    return _MODELS[max(matches)[1]] if matches else ModelFacts()
