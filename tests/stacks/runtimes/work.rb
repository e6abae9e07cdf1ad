# SPDX-License-Identifier: Apache-2.0
def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end
fiber = Fiber.new { loop { Fiber.yield((1..400).map { |i| (i * 7919) % 101 }.sort.sum + fib(12)) } }
puts 1500.times.sum { |i| fiber.resume + fib(12) + "#{i}".size }
