"""How names and imports of Lua find what they mean."""

from __future__ import annotations

from cairn.source.languages.import_reading import read_file_name
from cairn.source.languages.rules import Rules, words

_FUNCTIONS = (
    "assert collectgarbage dofile error getfenv getmetatable ipairs load loadfile loadstring module next pairs pcall"
    " print rawequal rawget rawlen rawset require select setfenv setmetatable tonumber tostring type unpack warn xpcall"
)

RULES = Rules("", finder="lua", package="all", built_in=words(*_FUNCTIONS.split()))
read_import = read_file_name
