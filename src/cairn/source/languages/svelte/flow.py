"""What the statements of Svelte are called."""

from cairn.source.languages.typescript.flow import FLOW as FLOW
