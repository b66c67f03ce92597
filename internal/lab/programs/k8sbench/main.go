// The server of document 004, which runs as ten pods on six CPUs: /cpu?n=N
// computes N units. The document links to its code but does not show it. Its
// numbers say that 19 units more cost some 60 µs of CPU there, so a unit here is
// 1000 square roots, about as much.
package k8sbench

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// most bounds a request to about a second.
const most = 200_000

func compute(n int) float64 {
	sum := 0.0
	for i := 1; i <= n*1000; i++ {
		sum += math.Sqrt(float64(i))
	}
	return sum
}

func handle(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.FormValue("n"))
	if err != nil || n < 0 || n > most {
		http.Error(w, fmt.Sprintf("n=%q: want a number from 0 to %d", r.FormValue("n"), most), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%.3f\n", compute(n))
}

// Serve answers at the address until ctx ends. It says at the start which
// GOMAXPROCS it runs with: the cheapest insurance there is.
func Serve(ctx context.Context, addr string, stderr io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.New(stderr, "", log.LstdFlags).Printf("k8sbench: GOMAXPROCS=%d NumCPU=%d Version=%s Addr=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), listener.Addr())
	mux := http.NewServeMux()
	mux.HandleFunc("/cpu", handle)
	server := &http.Server{Handler: mux}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:7000", "`address` to listen at; the document's port is 7000")
	if flag.Parse(); flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "k8sbench: %q: want flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := Serve(ctx, *addr, os.Stderr); err != nil {
		log.Fatal(err)
	}
}
