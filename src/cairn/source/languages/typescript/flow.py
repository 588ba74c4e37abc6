"""What the statements of TypeScript are called."""

from __future__ import annotations

from dataclasses import replace

from cairn.source.languages.ecmascript.flow import FLOW as _ECMASCRIPT
from cairn.source.languages.flow_syntax import types

FLOW = replace(_ECMASCRIPT, classes=_ECMASCRIPT.classes | types("abstract_class_declaration"))
