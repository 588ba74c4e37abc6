#!/usr/bin/env lua
--[[
A stack, and a few helpers around it.
--]]
local util = require("util")
local insert, remove = table.insert, table.remove
local M = {}

M.VERSION = "1.0"
M.defaults = {
  size = 10,
  ["on_full"] = function(stack)
    return stack
  end,
  on_empty = function() end,
  nested = { level = 2 },
}

LIMIT = 100

--- Creates a stack.
-- @param size number
-- @return Stack
function M.new(size)
  local self = setmetatable({}, { __index = M })
  self.items = {}
  local function check(n)
    return n > 0
  end
  check(size or M.defaults.size)
  return self
end

function M:push(value) insert(self.items, value) end

function M.stats.depth.max(stack) return #stack.items end

-- Takes the last value.
M.pop = function(self)
  local callback = function() return nil end
  return remove(self.items) or callback()
end

M["peek"] = function(self) return self.items[#self.items] end

local function helper(...)
  local args = { ... }
  return args
end

local twice = function(x) return x * 2 end

function global_reset()
  LIMIT = 100
end

local Class <const> = util.class("Stack", { init = function() end })

if LIMIT > 1 then
  function M.debug() print(twice(LIMIT)) end
end

for _, name in ipairs({ "a", "b" }) do
  M[name] = helper(name)
end

return {
  stack = M,
  run = function(...)
    return M.new(...)
  end,
  stop = function() global_reset() end,
  class = Class,
}
