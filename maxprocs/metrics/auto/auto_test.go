package auto

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestMain is the program that imports the package, where it is asked to be.
func TestMain(m *testing.M) {
	if os.Getenv("MAXPROCS_TEST_IMPORT") != "" {
		http.HandleFunc("GET /", http.NotFound) // of the program
		w := httptest.NewRecorder()
		http.DefaultServeMux.ServeHTTP(w, httptest.NewRequest("GET", "/metrics/procs", nil))
		fmt.Println(w.Code, w.Body.String(), "GOMAXPROCS is", runtime.GOMAXPROCS(0))
		os.Exit(0)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
	os.Exit(m.Run())
}

// One import prints the line and serves the gauge, next to a pattern with a method, whether
// ServeMux knows methods or not.
func TestImport(t *testing.T) {
	for _, godebug := range []string{"httpmuxgo121=0", "httpmuxgo121=1"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MAXPROCS_TEST_IMPORT=1", "GOMAXPROCS=3", "GODEBUG="+godebug)
		out, err := cmd.CombinedOutput()
		for _, want := range []string{"maxprocs: GOMAXPROCS=3: set in the environment", "200 # HELP process_gomaxprocs", "\nprocess_gomaxprocs 3\n", "GOMAXPROCS is 3"} {
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v: want %q in\n%s", godebug, err, want, out)
			}
		}
	}
}
