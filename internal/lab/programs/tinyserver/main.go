// The practice server of document 000 that waits and computes: each request
// sleeps 2 ms, as if for a database, then feeds its body, up to 4096 bytes of
// it, 32 times to SHA-256 and answers the sum in hex. Without a body there is
// nothing to hash; post 4096 bytes to make it compute.
package tinyserver

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"time"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Answer(w http.ResponseWriter, r *http.Request) {
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

func main() { harness.Server("tinyserver", "127.0.0.1:8080", harness.Handle(Answer)) }
