-- Calls, tables, strings, sorting and numbers.
local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end
print(fib(25))

local seed = 42
local function random(limit)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed % limit
end

local list = {}
for i = 1, 40000 do list[i] = random(100000) end
table.sort(list)
print(list[1], list[#list])

local words, counts = {}, {}
for i = 1, 30000 do words[i] = string.format("w%d", random(500)) end
for word in table.concat(words, " "):gmatch("%a%d+") do counts[word] = (counts[word] or 0) + 1 end
local names = {}
for name in pairs(counts) do names[#names + 1] = name end
table.sort(names, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
print(names[1], counts[names[1]])

local object = {total = 0}
object.__index = object
function object:add(n) self.total = self.total + n % 7 end
local one = setmetatable({total = 0}, object)
for i = 1, 200000 do one:add(i) end
print(one.total)

local grid, size = {}, 120
for y = 1, size do
  grid[y] = {}
  for x = 1, size do grid[y][x] = (x * y) % 3 == 0 and 1 or 0 end
end
for _ = 1, 4 do
  local next_grid = {}
  for y = 1, size do
    next_grid[y] = {}
    for x = 1, size do
      local sum = 0
      for dy = -1, 1 do
        local row = grid[y + dy]
        if row then
          for dx = -1, 1 do sum = sum + (row[x + dx] or 0) end
        end
      end
      next_grid[y][x] = (sum == 3 or sum - grid[y][x] == 3) and 1 or 0
    end
  end
  grid = next_grid
end
print(#grid)
