// The server of document 004, which runs as ten pods on six CPUs: /cpu?n=N
// computes N units. The document links to its code but does not show it. Its
// numbers say that 19 units more cost some 60 µs of CPU there, so a unit here is
// 1000 square roots, about as much.
package k8sbench

import (
	"fmt"
	"log"
	"math"
	"net/http"
	"strconv"

	"github.com/procfit/procfit/internal/lab/programs/harness"
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
		http.Error(w, fmt.Sprintf("n=%q: expected a number from 0 to %d", r.FormValue("n"), most), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%.3f\n", compute(n))
}

func Program(*log.Logger) (http.Handler, func(), error) {
	mux := http.NewServeMux()
	mux.HandleFunc("/cpu", handle)
	return mux, nil, nil
}

// The document's port is 7000.
func main() { harness.Server("k8sbench", "127.0.0.1:7000", Program) }
