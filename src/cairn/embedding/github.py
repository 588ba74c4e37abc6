"""GitHub's model service, which speaks OpenAI's protocol; its model names begin with the publisher.

https://docs.github.com/en/rest/models/embeddings
"""

from __future__ import annotations

from cairn.embedding.openai import OpenAIWire


class GitHubWire(OpenAIWire):
    """The key is a token that may read models."""

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers that GitHub asks for."""
        return {
            **super().headers(key),
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }


ADAPTER = GitHubWire
