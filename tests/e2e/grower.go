// SPDX-License-Identifier: Apache-2.0
// grower: goroutines whose stacks grow while a function runs.
package main

import "fmt"

//go:noinline
func deepen(n int) int {
	var room [256]byte
	room[n%256] = byte(n)
	if n == 0 {
		return int(room[0])
	}
	return deepen(n-1) + int(room[n%256])
}

//go:noinline
func Grower(n int) int { return deepen(n) + 1 }

func main() {
	done := make(chan int)
	sum := 0
	for i := 0; i < 50; i++ {
		go func() { done <- Grower(2000) }()
		sum += <-done
	}
	fmt.Println(sum != 0)
}
