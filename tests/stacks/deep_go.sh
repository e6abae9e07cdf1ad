#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints a Go program that works in many functions, briefly in each, at the bottom of deep stacks of short-lived goroutines.
cat <<'END'
package main

import "fmt"

func grow(n int, work func() int) int {
	var a [64]int
	if n == 0 {
		return work()
	}
	for i := range a {
		a[i] = n + i
	}
	return grow(n-1, work) + a[n%64]
}

func flat(work func() int) int { return work() }

END
for i in $(seq 300); do
	cat <<END
//go:noinline
func work$i() int {
	s := $i
	for i := 0; i < 1500000; i++ {
		s += i ^ s>>3
		if s&0xfffff == $i {
			s ^= $i * 3
		}
	}
	return s
}

END
done
echo 'var all = []func() int{'
for i in $(seq 300); do echo "	work$i,"; done
cat <<'END'
}

func main() {
	t, c := 0, make(chan int)
	for i, work := range all {
		for turn := 0; turn < 3; turn++ {
			go func() { c <- flat(work) }()
			t += <-c
		}
		go func() { c <- grow(40+i%40, work) }()
		t += <-c
	}
	fmt.Println(t != 0)
}
END
