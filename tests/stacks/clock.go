// SPDX-License-Identifier: Apache-2.0
// Goroutines that read the clock, which Go does on the thread's own stack.
package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

//go:noinline
func ask(depth int) int64 {
	var room [40]int64
	if depth == 0 {
		return time.Now().UnixNano()
	}
	room[depth%40] = ask(depth - 1)
	return room[depth%40] + room[7]
}

func main() {
	var group sync.WaitGroup
	slow, err := strconv.Atoi(os.Getenv("SLOW")) // how many times longer an emulated machine takes
	if err != nil {
		slow = 1
	}
	end := time.Now().Add(time.Duration(slow) * 1500 * time.Millisecond)
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func(depth int) {
			defer group.Done()
			for time.Now().Before(end) {
				ask(depth)
			}
		}(2 + 20*i)
	}
	group.Wait()
}
