package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/cli/scripts"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/test/must"
)

// TestCleanAsks: who cleans at a terminal is asked before the pods of a run are removed that may be running, as
// a colleague's canary.
func TestCleanAsks(t *testing.T) {
	for name, tc := range map[string]struct {
		typed   string // empty: there is no terminal
		alive   time.Duration
		removed bool
	}{
		"yes": {"y\n", time.Hour, true}, "no": {"n\n", time.Hour, false}, "in a script": {"", time.Hour, true}, "a run that has ended": {"n\n", -time.Hour, true},
	} {
		removed := false
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			list := core.ConfigMapList{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}}
			if removed = removed || r.Method == http.MethodDelete; !removed && strings.HasSuffix(r.URL.Path, "/configmaps") {
				list.Items = []core.ConfigMap{{ObjectMeta: meta.ObjectMeta{
					Name: "procfit-r", Labels: map[string]string{"procfit.dev/run": "r"}, Annotations: map[string]string{"procfit.dev/alive-until": time.Now().Add(tc.alive).UTC().Format(time.RFC3339)},
				}}}
			}
			if strings.HasSuffix(r.URL.Path, "/pods") {
				list.Kind = "PodList"
			}
			_ = json.NewEncoder(w).Encode(list)
		}))
		config := filepath.Join(t.TempDir(), "kubeconfig")
		must.OK(t, os.WriteFile(config, scripts.Kubeconfig(server.URL), 0o600))
		std := newStdio(t.Context(), strings.NewReader(""), new(strings.Builder), new(strings.Builder), nil)
		if tc.typed != "" {
			std.in = terminalThat(t, tc.typed)
		}
		if err := cleanKube(t.Context(), std, kube.Access{Kubeconfig: config}); removed != tc.removed || (err == nil) != tc.removed {
			t.Errorf("%s: removed %v, %v", name, removed, err)
		}
		server.Close()
	}
}

// terminalThat is a terminal at which somebody types.
func terminalThat(t *testing.T, types string) *os.File {
	t.Helper()
	tty, master := pseudoTerminal(t)
	must.Get(master.WriteString(types))(t)
	return tty
}

// pseudoTerminal is a terminal, and what a person at it types and sees.
func pseudoTerminal(t *testing.T) (tty, master *os.File) {
	t.Helper()
	master = must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	t.Cleanup(func() { master.Close() })
	must.OK(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN))(t)
	tty = must.Get(os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { tty.Close() })
	return tty, master
}

// TestDiffOnTerminal: lines of files are printable on a terminal, and in a pipe what patch needs.
func TestDiffOnTerminal(t *testing.T) {
	report := &check.Report{Files: 1, Fixed: []check.Fixed{{Path: "a", Before: []byte("# \x1b[2J\n"), After: []byte("# \x1b[2J\nb\n")}}}
	var pipe, errs strings.Builder
	std := newStdio(t.Context(), strings.NewReader(""), &pipe, &errs, nil)
	show := func() {
		if err := (&checkOptions{diff: true}).showDiff(std, report); err == nil || err.Error() != "1 file would be fixed" {
			t.Errorf("%v; %s", err, errs.String())
		}
	}
	show()
	tty, master := pseudoTerminal(t)
	std.out = tty
	show()
	seen := ""
	for buffer := make([]byte, 1<<10); !strings.Contains(seen, "+b"); {
		seen += string(buffer[:must.Get(master.Read(buffer))(t)])
	}
	if strings.Contains(seen, "\x1b") || !strings.Contains(seen, ` # \x1b[2J`) || !strings.Contains(pipe.String(), " # \x1b[2J\n+b\n") {
		t.Errorf("on the terminal %q, in a pipe %q", seen, pipe.String())
	}
}
