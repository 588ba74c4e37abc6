"""What the statements of TypeScript with JSX are called."""

from cairn.source.languages.typescript.flow import FLOW as FLOW
