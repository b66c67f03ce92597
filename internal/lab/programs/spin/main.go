// A server whose requests are small: each hashes 8 × 4096 zero bytes with SHA-256, as
// cpuserver does 64. Most of the time it has nothing to do, and a P without work looks for
// some before its thread sleeps: what that costs shows next to little work.
package spin

import (
	"net/http"

	"github.com/procfit/procfit/internal/lab/programs/harness"
)

func Answer(w http.ResponseWriter, r *http.Request) {
	sum := harness.Hash(8)
	w.Write(sum[:])
}

func main() { harness.Server("spin", "127.0.0.1:8080", harness.Handle(Answer)) }
