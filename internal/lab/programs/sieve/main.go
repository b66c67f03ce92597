// The concurrent prime sieve of document 002: one goroutine counts, and behind
// it stands a goroutine for each prime found that lets only those numbers pass
// that its prime does not divide. Many goroutines switch often, but several
// filters can work at once, so more Ps do help.
package sieve

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// count sends 2, 3, 4 and so on until it is told to stop.
func count(out chan<- int, stop *int32) {
	for i := 2; atomic.LoadInt32(stop) == 0; i++ {
		out <- i
	}
	close(out)
}

// filter lets through what prime does not divide.
func filter(in <-chan int, out chan<- int, prime int) {
	for i := range in {
		if i%prime != 0 {
			out <- i
		}
	}
	close(out)
}

// primes finds the first n.
func primes(n int) []int {
	var stop int32
	found := make([]int, 0, n)
	numbers := make(chan int)
	go count(numbers, &stop)
	for {
		prime := <-numbers
		found = append(found, prime)
		if len(found) == n {
			break
		}
		next := make(chan int)
		go filter(numbers, next, prime)
		numbers = next
	}
	atomic.StoreInt32(&stop, 1)
	for _ = range numbers { // what is under way; then every goroutine has ended
	}
	return found
}

// wrong is the first of the numbers that is not the prime it should be, or 0: no
// smaller prime may divide it, but one must divide each number left out.
func wrong(found []int) int {
	divisible := func(n, before int) bool {
		for _, p := range found[:before] {
			if n%p == 0 {
				return true
			}
		}
		return false
	}
	candidate := 2
	for i, p := range found {
		for ; candidate < p; candidate++ {
			if !divisible(candidate, i) {
				return p
			}
		}
		if candidate != p || divisible(p, i) {
			return p
		}
		candidate++
	}
	return 0
}

// Program is the program. It keeps to Go 1.2.
func Program(b *harness.Batch) func() error {
	n := b.Int("n", 4000, 1, "`primes` to find (the article does not say; its 27 s are another machine's)")
	return func() error {
		start := time.Now()
		found := primes(*n)
		elapsed := time.Since(start)
		if p := wrong(found); p != 0 {
			return fmt.Errorf("%d is not the next prime", p)
		}
		b.Result("BenchmarkSieve 1 %d ns/op", elapsed.Nanoseconds())
		return nil
	}
}
