fib(0, 0).
fib(1, 1).
fib(N, F) :- N > 1, A is N - 1, B is N - 2, fib(A, X), fib(B, Y), F is X + Y.

work :- between(1, 60, I), fib(16, _), numlist(1, 3000, L), reverse(L, R), msort(R, _),
    atomic_list_concat(R, ',', A), atom_length(A, _), catch(throw(I), _, true), fail.
work.
