"""What the statements of JavaScript are called."""

from cairn.source.languages.ecmascript.flow import FLOW as FLOW
