package phrase_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
)

// TestPlain takes errors from the libraries that make them.
func TestPlain(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	address := l.Addr().String()
	_, taken := net.Listen("tcp", address)
	l.Close()
	_, stat := os.Stat(missing)
	_, refused := net.Dial("tcp", address)
	_, get := http.Get("http://" + address + "/x")
	_, number := strconv.Atoi("abc")
	_, large := strconv.ParseInt("99999999999999999999", 10, 64)
	_, unit := time.ParseDuration("10")
	_, _, port := net.SplitHostPort("localhost")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"none":       {nil, ""},
		"own":        {errors.New("own words"), "own words"},
		"file":       {fmt.Errorf("--exec: %w", stat), "--exec: " + missing + ": no such file or directory"},
		"rename":     {os.Rename(missing, missing+"2"), missing + "2: no such file or directory"},
		"taken":      {taken, address + ": address already in use"},
		"refused":    {refused, address + ": connection refused"},
		"get":        {get, "http://" + address + "/x: " + address + ": connection refused"},
		"number":     {fmt.Errorf("a %w b", number), `a "abc": not a number b`},
		"range":      {large, `"99999999999999999999": out of range`},
		"unit":       {unit, `missing unit in duration "10"`},
		"port":       {port, `address "localhost": missing port`},
		"executable": {exec.CommandContext(context.Background(), "no-such-program").Run(), "no-such-program: not found in the folders of $PATH"},
		"program":    {exec.CommandContext(context.Background(), missing).Run(), missing + ": no such file or directory"},
		"several":    {errors.Join(stat, fmt.Errorf("then %w", number)), missing + ": no such file or directory\nthen \"abc\": not a number"},
	} {
		if got := phrase.Plain(c.err); got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
		if c.err != nil && strings.Contains(phrase.Plain(c.err), "%!") {
			t.Errorf("%s: %q", name, phrase.Plain(c.err))
		}
	}
}
