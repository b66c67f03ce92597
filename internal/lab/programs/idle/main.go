// What connections cost that nobody uses, for document 000's "no thread, no P": as many
// as are asked for are opened, each is used once, and then they rest. The first line is
// of TCP connections whose goroutines wait for a byte, the second of keep-alive
// connections of net/http. Next to them one goroutine for each P computes, and before
// that without them. The clients are in the same process, without goroutines.
package idle

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

// allowed is how many connections the limit of open files lets both ends have here, at
// most n; some files are open as well.
func allowed(n int) int {
	soft, _, _ := strings.Cut(harness.ProcLine("limits", "Max open files"), " ")
	if limit, err := strconv.Atoi(soft); err == nil && limit > 200 {
		return min(n, (limit-100)/2)
	}
	return n
}

// memory is what heap and stacks hold after a collection.
func memory() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) + float64(m.StackInuse)
}

// A kind of connection is a server, and what its clients send and get once.
type kind struct {
	name     string
	serve    func(net.Listener) (stop func())
	ask      string
	expected string // the end of the answer
}

// echo answers a line with itself, as often as asked.
func echo(conn net.Conn) {
	defer conn.Close()
	buffer := make([]byte, 16)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func serveTCP(l net.Listener) (stop func()) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Add(1)
			go func() {
				defer wg.Done()
				echo(conn)
			}()
		}
	}()
	return func() {
		l.Close()
		wg.Wait()
	}
}

func serveHTTP(l net.Listener) (stop func()) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "here\n") })}
	go server.Serve(l)
	return func() { server.Close() }
}

// open opens a connection and uses it once.
func (k kind) open(addr string) (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, err = io.WriteString(conn, k.ask)
	for r := bufio.NewReaderSize(conn, 16); err == nil; {
		var line string
		if line, err = r.ReadString('\n'); line == k.expected {
			return conn, conn.SetDeadline(time.Time{})
		}
	}
	conn.Close()
	return nil, fmt.Errorf("no answer: %w", err)
}

// measured is what connections of a kind cost.
type measured struct {
	opened, threads int
	bytes           float64
	took            time.Duration
	alone, beside   float64 // sums a second
}

func (k kind) measure(n int, d time.Duration) (m measured, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return m, err
	}
	stop := k.serve(listener)
	defer stop()
	conns := make([]net.Conn, 0, n)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	m.alone = harness.Compute(d)
	bytes, before := memory(), harness.Threads()
	start := time.Now()
	for len(conns) < n {
		conn, err := k.open(listener.Addr().String())
		if err != nil {
			return m, fmt.Errorf("connection %d of %d: %w", len(conns)+1, n, err)
		}
		conns = append(conns, conn)
	}
	m.took, m.opened = time.Since(start), len(conns)
	m.beside = harness.Compute(d)
	m.threads, m.bytes = max(0, harness.Threads()-before), max(0, memory()-bytes)
	return m, nil
}

func Program(b *harness.Batch) func() error {
	n := b.Int("n", 10_000, 1, "`connections`, as many of them as the limit of open files allows (the article: “a million”)")
	d := b.Duration("d", 300*time.Millisecond, "how `long` to compute without them and next to them")
	return func() error {
		count := allowed(*n)
		if count < *n {
			fmt.Fprintf(b.Stderr, "idle: %d of %d connections, as the limit of open files has it (ulimit -n)\n", count, *n)
		}
		for _, k := range []kind{
			{"tcp", serveTCP, "here\n", "here\n"},
			{"http", serveHTTP, "GET / HTTP/1.1\r\nHost: idle\r\n\r\n", "here\n"},
		} {
			m, err := k.measure(count, *d)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			per := 1 / float64(m.opened)
			b.Result("BenchmarkIdle/%s %d %.0f ns/op %d conns %.5f threads/conn %.0f B/conn %.1f alone-sums/s %.1f beside-sums/s",
				k.name, m.opened, float64(m.took.Nanoseconds())*per, m.opened, float64(m.threads)*per, m.bytes*per, m.alone, m.beside)
		}
		return nil
	}
}
