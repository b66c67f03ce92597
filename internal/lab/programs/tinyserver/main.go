// The practice server of document 000 that waits and computes: each request
// sleeps 2 ms, as if for a database, then feeds its body, up to 4096 bytes of
// it, 32 times to SHA-256 and answers the sum in hex. Without a body there is
// nothing to hash; post 4096 bytes to make it compute.
package tinyserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"time"
)

func handle(w http.ResponseWriter, r *http.Request) {
	time.Sleep(2 * time.Millisecond)
	body, err := io.ReadAll(io.LimitReader(r.Body, 4096))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	hash := sha256.New()
	for i := 0; i < 32; i++ {
		hash.Write(body)
	}
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, hex.EncodeToString(hash.Sum(nil)))
}

// Serve answers at the address until ctx ends. It says at the start which
// GOMAXPROCS it runs with: the cheapest insurance there is.
func Serve(ctx context.Context, addr string, stderr io.Writer) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.New(stderr, "", log.LstdFlags).Printf("tinyserver: GOMAXPROCS=%d NumCPU=%d Version=%s Addr=%s",
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
		fmt.Fprintf(os.Stderr, "tinyserver: %q: want flags only\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := Serve(ctx, *addr, os.Stderr); err != nil {
		log.Fatal(err)
	}
}
