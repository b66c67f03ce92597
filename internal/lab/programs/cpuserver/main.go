// The practice server of document 000 that only computes: each request hashes
// 64 × 4096 zero bytes with SHA-256 and answers the sum. It never waits and
// allocates little, so it shows what GOMAXPROCS does to CPU-bound work.
package cpuserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func handle(w http.ResponseWriter, r *http.Request) {
	hash, block := sha256.New(), make([]byte, 4096)
	for i := 0; i < 64; i++ {
		hash.Write(block)
	}
	w.Write(hash.Sum(nil))
}

// Serve answers at the address until ctx ends. It says at the start which
// GOMAXPROCS it runs with: the cheapest insurance there is.
func Serve(ctx context.Context, addr string, stderr io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.New(stderr, "", log.LstdFlags).Printf("cpuserver: GOMAXPROCS=%d NumCPU=%d Version=%s Addr=%s",
		runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.Version(), listener.Addr())
	server := &http.Server{Handler: http.HandlerFunc(handle)}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "`address` to listen at")
	if flag.Parse(); flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "cpuserver: %q: want flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := Serve(ctx, *addr, os.Stderr); err != nil {
		log.Fatal(err)
	}
}
