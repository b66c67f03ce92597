package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// watched is a writer that calls once the address of /metrics is written.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
	call func(url string)
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(b)
	if url := regexp.MustCompile(`http://\S+/metrics\n`).FindString(w.text.String()); url != "" && w.call != nil {
		go w.call(strings.TrimSpace(url))
		w.call = nil
	}
	return n, err
}

// serveBriefly runs procfit exporter with the arguments, at a port of its own,
// until it has been scraped once.
func serveBriefly(t *testing.T, where string, args []string) (text string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	errs := &watched{call: func(url string) {
		defer stop()
		r, err := http.Get(url)
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("%s, %v: %s", r.Status, err, b)
		}
		text = string(b)
	}}
	var out bytes.Buffer
	args = append(args, "--listen", "127.0.0.1:0")
	if code := Main(ctx, args, strings.NewReader(""), &out, errs); code != exitInterrupted || out.Len() > 0 {
		t.Errorf("%s: procfit %s: exit code %d, output %q: %s", where, strings.Join(args, " "), code, out.String(), errs.text.String())
	}
	return text
}

func TestExporter(t *testing.T) {
	if runtime.GOOS != "linux" {
		need.Skip(t, "needs Linux")
	}
	text := serveBriefly(t, "here", []string{"exporter"})
	must.Say(t, text, "\nprocfit_exporter_build_info{", "\nprocfit_exporter_processes ", "\nprocess_resident_memory_bytes ")
}
