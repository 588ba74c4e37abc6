"""What is known of common embedding models, as data: input limits, task prefixes, prices."""

from __future__ import annotations

from dataclasses import dataclass

PRICES_AS_OF = "2026-04"
# Code has fewer characters a token than prose; 3 keeps nearly every text below a model's limit.
CHARS_PER_TOKEN_AT_LEAST = 3
DEFAULT_MAX_TOKENS = 512  # what the older half of all models takes


@dataclass(frozen=True, slots=True)
class Known:
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
    "nomic-embed-text": Known(2048, "search_query: ", "search_document: "),
    "nomic-embed-code": Known(8192, _CODE),
    "coderankembed": Known(8192, _CODE),
    "all-minilm": Known(256),
    "mxbai-embed": Known(512, _PASSAGES),
    "bge-small-en": Known(512, _PASSAGES),
    "bge-base-en": Known(512, _PASSAGES),
    "bge-large-en": Known(512, _PASSAGES),
    "bge-m3": Known(8192),
    "snowflake-arctic-embed": Known(512, _PASSAGES),
    "snowflake-arctic-embed2": Known(8192, "query: "),
    "e5-": Known(512, "query: ", "passage: "),
    "multilingual-e5": Known(512, "query: ", "passage: "),
    "embeddinggemma": Known(2048, "task: code retrieval | query: ", "title: none | text: "),
    "qwen3-embedding": Known(8192, _QWEN),
    "jina-embeddings-v2": Known(8192),
    "text-embedding-3-small": Known(8191, price=0.02),
    "text-embedding-3-large": Known(8191, price=0.13),
    "text-embedding-ada-002": Known(8191, price=0.10),
    "gemini-embedding-001": Known(2048, price=0.15),
    "gemini-embedding-2": Known(8192, "task: code retrieval | query: ", "title: none | text: ", price=0.20),
}


def known_of(model: str) -> Known:
    """Return what is known of a model by its name, such as `nomic-ai/nomic-embed-text:v1.5`."""
    name = model.lower().rsplit("/", 1)[-1].split(":", 1)[0]
    names = (name, name.removeprefix("text-embedding-"))  # LM Studio puts this in front of any model's name
    matches = [(len(one), one) for one in _MODELS if any(given.startswith(one) for given in names)]
    return _MODELS[max(matches)[1]] if matches else Known()
