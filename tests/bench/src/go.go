package main

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
)

type tree struct {
	l, r *tree
	v    int
}

func mk(d int) *tree {
	if d == 0 {
		return &tree{v: 1}
	}
	return &tree{mk(d - 1), mk(d - 1), d}
}
func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.v + t.l.sum() + t.r.sum()
}
func words(n int) int {
	m := map[string]int{}
	x := uint32(n + 1)
	for i := 0; i < 40000; i++ {
		x = x*1664525 + 1013904223
		m["w"+strconv.Itoa(int(x>>20))]++
	}
	ks := make([]string, 0)
	for k := range m {
		ks = append(ks, k)
	}
	sort.Strings(ks)
	return len(strings.Join(ks, ","))
}
func sha(n int) byte {
	b := make([]byte, 65536)
	var s byte
	for i := 0; i < n; i++ {
		h := sha256.Sum256(b)
		b[i%65536] = h[0]
		s ^= h[3]
	}
	return s
}
func bigs(n int64) int {
	a := big.NewInt(1)
	for i := int64(1); i < n; i++ {
		a.Mul(a, big.NewInt(i))
	}
	return len(a.String())
}

var re = regexp.MustCompile(`([a-z]+)(\d+)-(foo|bar)*`)

func reg() int {
	s := strings.Repeat("abc123-foobar zz9-bar ", 300)
	return len(re.FindAllString(s, -1))
}
func main() {
	n := 10
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	tot := 0
	t := mk(14)
	for i := 0; i < n; i++ {
		var wg sync.WaitGroup
		var mu sync.Mutex
		for g := 0; g < 4; g++ {
			wg.Add(1)
			go func(g int) {
				defer wg.Done()
				x := words(g) + t.sum() + int(sha(10)) + bigs(900) + reg()
				mu.Lock()
				tot += x
				mu.Unlock()
			}(g)
		}
		wg.Wait()
	}
	fmt.Println(tot)
}
