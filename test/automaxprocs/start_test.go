package automaxprocs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestImport holds the blank import against the other, in an empty program: what
// it adds to the binary, and to the time from start to end, which is not judged.
func TestImport(t *testing.T) {
	const procfit, automaxprocs = "github.com/procfit/procfit/maxprocs/auto", "go.uber.org/automaxprocs"
	opened(t, "../../maxprocs")
	dir, names := t.TempDir(), []string{"", procfit, automaxprocs}
	program := func(name string) string { return filepath.Join(dir, filepath.Base("p/"+name)) }
	sizes, times := map[string]int64{}, map[string][]time.Duration{}
	for _, name := range names {
		text := "package main\n\nfunc main() {}\n"
		if name != "" {
			text = "package main\n\nimport _ \"" + name + "\"\n\nfunc main() {}\n"
		}
		source := program(name) + ".go"
		must.Write(t, source, text)
		build := exec.Command("go", "build", "-o", program(name), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		must.Output(t, build)
		sizes[name] = must.Get(os.Stat(program(name)))(t).Size()
	}
	starts := 5
	if need.Required() {
		starts = 101
	}
	for range starts {
		for _, name := range names {
			began := time.Now()
			must.OK(t, exec.Command(program(name)).Run())
			times[name] = append(times[name], time.Since(began))
		}
	}
	median := func(name string) time.Duration {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	for _, name := range names[1:] {
		t.Logf("%s adds %d bytes and %v to an empty program's %d bytes and %v", name,
			sizes[name]-sizes[""], median(name)-median(""), sizes[""], median(""))
	}
	if sizes[procfit] >= sizes[automaxprocs] {
		t.Errorf("%s makes a program of %d bytes, %s of %d", procfit, sizes[procfit], automaxprocs, sizes[automaxprocs])
	}
}
