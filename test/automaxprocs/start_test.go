package automaxprocs

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
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
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-o", program(name), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		info, err := os.Stat(program(name))
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = info.Size()
	}
	starts := 5
	if os.Getenv("PROCFIT_REQUIRE") == "1" {
		starts = 101
	}
	for range starts {
		for _, name := range names {
			began := time.Now()
			if err := exec.Command(program(name)).Run(); err != nil {
				t.Fatal(err)
			}
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
