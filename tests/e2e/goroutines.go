// SPDX-License-Identifier: Apache-2.0
//
// goroutines: a program that counts its own calls. Goroutines change threads, and their stacks move during calls: they
// grow in deep calls, and garbage collections shrink them.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

var works, rounds, shorts, moves int64
var sink uint64

//go:noinline
func short(n int) uint64 {
	atomic.AddInt64(&shorts, 1)
	x := uint64(n)
	for i := 0; i < 200; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// Needs about a page of stack for each level.
//
//go:noinline
func grow(depth int) uint64 {
	var room [4096]byte
	room[depth%len(room)] = byte(depth)
	if depth == 0 {
		return uint64(room[0])
	}
	return grow(depth-1) + uint64(room[depth%len(room)])
}

//go:noinline
func round(n int, wait time.Duration) {
	var here byte
	before := uintptr(unsafe.Pointer(&here))
	atomic.AddInt64(&rounds, 1)
	sum := uint64(0)
	for end := time.Now().Add(wait); time.Now().Before(end); {
		for i := 0; i < 200; i++ {
			sum += short(n + i)
		}
		runtime.Gosched()
	}
	sum += grow(1 << (n % 8))
	for end := time.Now().Add(wait); time.Now().Before(end); {
		for i := 0; i < 200; i++ {
			sum += short(n - i)
		}
		runtime.Gosched()
	}
	atomic.AddUint64(&sink, sum)
	if uintptr(unsafe.Pointer(&here)) != before {
		atomic.AddInt64(&moves, 1)
	}
}

//go:noinline
func work(n int, wait time.Duration, done *sync.WaitGroup) {
	atomic.AddInt64(&works, 1)
	for i := 0; i < n; i += 2 { // two call sites, to distinguish consecutive calls
		round(i, wait)
		round(i+1, wait)
	}
	done.Done()
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	var done sync.WaitGroup
	runtime.GOMAXPROCS(4)
	for i := 0; i < 6; i++ {
		done.Add(1)
		go work(n, 20*time.Millisecond, &done)
	}
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(15 * time.Millisecond):
				runtime.GC()
			}
		}
	}()
	done.Wait()
	close(stop)
	fmt.Printf("main.work %d\nmain.round %d\nmain.short %d\nmoves %d\n", works, rounds, shorts, moves)
}
