package toolchain

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// What there cannot be is found by what a module proxy lists; without a network only what
// is newer than the go command here is in doubt.
func TestDoubt(t *testing.T) {
	listed := []string{"go1.24.0", "go1.24.6", "go1.26.8", "go1.27rc1", "go1.27.4", "go1.28rc2"}
	for _, c := range []struct {
		asked  string
		listed []string
		want   string
	}{
		{"1.99", listed, "the newest release is 1.27.4"},
		{"1.27.9", listed, "the newest release is 1.27.4"},
		{"1.24.999", listed, "the newest release of Go 1.24 is 1.24.6"},
		{"1.24.3", listed, ""}, // of old ones a proxy does not list all
		{"1.23.3", listed, ""},
		{"1.27", listed, ""},
		{"1.28rc2", listed, ""},
		{"1.28", listed, ""}, // its candidate can be had by name only, which Fetch says
		{"1.99", nil, "it is newer than go1.26.8 here, and GOPROXY=off cannot be asked for it"},
		{"1.24.999", nil, ""},
	} {
		got := doubt(c.asked, "go1.26.8", c.listed, map[string]string{"GOPROXY": "off", "GOMODCACHE": t.TempDir()})
		if got != c.want {
			t.Errorf("%s of %d: %q, want %q", c.asked, len(c.listed), got, c.want)
		}
	}
}

// Without a network, what is here and what came before it is known.
func TestCheckOffline(t *testing.T) {
	need.Command(t, "go")
	cache := t.TempDir()
	offline := Go{Path: "go"}.With("GOPROXY=off", "GOFLAGS=", "GOMODCACHE="+cache)
	local, err := offline.local(t.Context())
	must.OK(t, err)
	if err := offline.Check(t.Context(), "1.2", "1.4.3", "1.24", strings.TrimPrefix(local, "go"), "1.24.6"); err != nil {
		t.Error(err)
	}
	err = offline.Check(t.Context(), "1.24", "1.9999")
	if err == nil || !strings.HasPrefix(err.Error(), `"1.9999": this Go version cannot be had: it is newer than go1.`) || !strings.Contains(err.Error(), "; try 1.") {
		t.Error(err)
	}
	if err := offline.Check(t.Context(), "2.1"); err == nil || !strings.Contains(err.Error(), "expected one such as 1.24") {
		t.Error(err)
	}
}
