<?php
// SPDX-License-Identifier: Apache-2.0
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
$sum = 0;
for ($i = 0; $i < 150; $i++) {
	$sum += fib(22);
	$a = [];
	for ($j = 0; $j < 3000; $j++)
		$a[] = ($j * 7919) % 1009;
	usort($a, fn($x, $y) => $x - $y);
	$sum += strlen(json_encode($a));
}
echo $sum, "\n";
