// SPDX-License-Identifier: Apache-2.0
// Goroutines that sort, hash, fill maps, recurse deep and allocate.
package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"time"
)

type node struct {
	l, r *node
	v    int
}

func build(d int) *node {
	if d == 0 {
		return nil
	}
	return &node{build(d - 1), build(d - 1), d}
}
func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.v + n.l.sum() + n.r.sum()
}

func grow(n int) int {
	var a [64]int
	if n == 0 {
		return 0
	}
	for i := range a {
		a[i] = n + i
	}
	return grow(n-1) + a[n%64]
}

func worker(id int, in <-chan int, out chan<- int) {
	m := map[string]int{}
	for x := range in {
		s := 0
		switch x % 5 {
		case 0:
			s = build(12).sum()
		case 1:
			h := sha256.New()
			for i := 0; i < 200; i++ {
				h.Write([]byte(strings.Repeat("x", 200)))
			}
			s = int(h.Sum(nil)[0])
		case 2:
			v := make([]int, 5000)
			for i := range v {
				v[i] = (i * 7919) % 5003
			}
			sort.Ints(v)
			s = v[7]
		case 3:
			for i := 0; i < 2000; i++ {
				m[fmt.Sprintf("k%d", i%500)] += i
			}
			s = len(m)
		case 4:
			c := make(chan int)
			go func() { c <- grow(200) }()
			s = <-c
		}
		out <- s
	}
}

func main() {
	d := 700 * time.Millisecond
	if len(os.Args) > 1 {
		d, _ = time.ParseDuration(os.Args[1])
	}
	in, out := make(chan int, 4), make(chan int, 4)
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func(i int) { worker(i, in, out); wg.Done() }(i)
	}
	go func() {
		end := time.Now().Add(d)
		for i := 0; time.Now().Before(end); i++ {
			in <- i
		}
		close(in)
		wg.Wait()
		close(out)
	}()
	t := 0
	for x := range out {
		t += x
	}
	fmt.Println(t != 0)
}
