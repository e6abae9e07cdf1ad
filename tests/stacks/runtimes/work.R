# SPDX-License-Identifier: Apache-2.0
fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)
s <- 0
for (i in 1:12) {
	m <- matrix(1:10000, 100)
	s <- s + fib(17) + sum(sort((1:2000 * 7919) %% 1009)) + nchar(paste(1:500, collapse = ",")) + sum(m %*% m) %% 7
}
print(s)
