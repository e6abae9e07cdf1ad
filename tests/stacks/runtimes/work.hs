-- SPDX-License-Identifier: Apache-2.0
module Main where
import Data.List (foldl', sort)
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
{-# NOINLINE fib #-}
work :: Int -> Int
work i = sum (take 10 (sort [(x * 7919 + i) `mod` 1009 | x <- [1 .. 300]])) + fib 22 + length (show i)
main :: IO ()
main = print (foldl' (\s i -> s + work i) 0 [1 .. 4000])
