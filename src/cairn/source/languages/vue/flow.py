"""What the statements of Vue are called."""

from cairn.source.languages.typescript.flow import FLOW as FLOW
