-- SPDX-License-Identifier: Apache-2.0
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local sum = 0
for i = 1, 120 do
	sum = sum + fib(22)
	local t = {}
	for j = 1, 3000 do t[j] = (j * 7919) % 1009 end
	table.sort(t, function(a, b) return a < b end)
	sum = sum + t[1]
end
print(sum)
