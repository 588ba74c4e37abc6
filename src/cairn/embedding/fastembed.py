"""Models of the FastEmbed library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cairn.embedding.local import LocalEmbedder, missing_library

if TYPE_CHECKING:
    from types import ModuleType


class FastEmbedEmbedder(LocalEmbedder):
    """A FastEmbed model (ONNX), which the library downloads when it is first used."""

    @cached_property
    def _model(self) -> Any:  # noqa: ANN401 - the library is optional, and so are its types
        try:
            import fastembed  # noqa: PLC0415 - an extra, and slow to import
        except ImportError as error:
            raise missing_library("fastembed", error) from error
        module: ModuleType = fastembed
        return module.TextEmbedding(model_name=self._settings.model)

    def _rows(self, texts: Sequence[str], *, query: bool) -> object:
        if self.uses_library_prefix(query=query):
            rows = self._model.query_embed(texts[0]) if query else self._model.passage_embed(list(texts))
            return list(rows)
        return list(self._model.embed(list(texts), batch_size=self._settings.batch_size))


ADAPTER = FastEmbedEmbedder
