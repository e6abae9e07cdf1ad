%% SPDX-License-Identifier: Apache-2.0
-module(work).
-export([main/0]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
work(0, S) -> S;
work(N, S) ->
	L = lists:sort([(X * 7919) rem 1009 || X <- lists:seq(1, 300)]),
	work(N - 1, S + fib(20) + lists:sum(L) + length(integer_to_list(S))).
main() -> io:format("~p~n", [work(1500, 0)]), halt().
