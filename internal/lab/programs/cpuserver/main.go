// The practice server of document 000 that only computes: each request hashes
// 64 × 4096 zero bytes with SHA-256 and answers the sum. It never waits and
// allocates little, so it shows what GOMAXPROCS does to CPU-bound work.
package cpuserver

import (
	"net/http"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Answer(w http.ResponseWriter, r *http.Request) {
	sum := harness.Hash(64)
	w.Write(sum[:])
}

func main() { harness.Server("cpuserver", "127.0.0.1:8080", harness.Handle(Answer)) }
