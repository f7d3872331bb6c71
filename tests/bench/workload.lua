-- What scripts do: strings, tables, sorting, closures and errors. The sum at the end
-- shows that it did the same as always.

local function words(count)
  local seed, found = 42, {}
  for index = 1, count do
    seed = (seed * 1103515245 + 12345) % 2147483648
    found[index] = string.format("word%05d", seed % 20000)
  end
  return found
end

local function count_words(text)
  local counts, order = {}, {}
  for word in text:gmatch("%a+%d+") do
    if not counts[word] then
      counts[word] = 0
      order[#order + 1] = word
    end
    counts[word] = counts[word] + 1
  end
  table.sort(order, function(a, b)
    if counts[a] ~= counts[b] then
      return counts[a] > counts[b]
    end
    return a < b
  end)
  return counts, order
end

local function queens(size)
  local columns, up, down, solutions = {}, {}, {}, 0
  local function place(row)
    if row > size then
      solutions = solutions + 1
      return
    end
    for column = 1, size do
      if not (columns[column] or up[row + column] or down[row - column + size]) then
        columns[column], up[row + column], down[row - column + size] = true, true, true
        place(row + 1)
        columns[column], up[row + column], down[row - column + size] = nil, nil, nil
      end
    end
  end
  place(1)
  return solutions
end

local function refuse(count)
  local refused = 0
  for index = 1, count do
    local ok = pcall(function()
      if index % 3 == 0 then
        error({ index = index })
      end
    end)
    refused = refused + (ok and 0 or 1)
  end
  return refused
end

local sum = 0
local list = words(40000)
local counts, order = count_words(table.concat(list, " "))
sum = sum + #order + counts[order[1]]
sum = sum + queens(8)
sum = sum + refuse(20000)
local text = table.concat(list, ","):gsub("word(%d+)", function(digits)
  return "<" .. tostring(tonumber(digits) // 7) .. ">"
end)
sum = sum + #text
print("sum=" .. sum)
