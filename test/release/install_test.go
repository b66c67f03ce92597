package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// version is that of both tags in the rehearsal.
const version = "v0.1.0"

const tool = "github.com/procfit/procfit"

// TestInstall rehearses the release, by the steps of RELEASING.md, into a module
// proxy in a folder: the library's tag first, then the tool without its replace.
// What go install would do then is worked out; with PROCFIT_FULL=1 it is done. It
// belongs to the second tier: it unpacks every module that the tool requires, for who
// makes a release.
func TestInstall(t *testing.T) {
	t.Parallel()
	if !need.Required() && !need.Whole() {
		t.Skip("only with PROCFIT_REQUIRE=1: rehearses a release, and unpacks every module for that")
	}
	proxy, source := t.TempDir(), t.TempDir()
	checkout(t, source)
	publish(t, proxy, library, filepath.Join(source, "maxprocs"))

	edit := exec.Command("go", "mod", "edit", "-dropreplace", library, "-require", library+"@"+version)
	edit.Dir = source
	must.Output(t, edit)
	mod := must.Read(t, filepath.Join(source, "go.mod"))
	for _, line := range strings.Split(mod, "\n") {
		if strings.HasPrefix(line, "replace") || strings.HasPrefix(line, "exclude") {
			t.Errorf("go install refuses a module whose go.mod says %q", line)
		}
	}
	publish(t, proxy, tool, source)

	full := need.Whole()
	args := []string{"install", tool + "/cmd/procfit@" + version}
	if !full {
		args = slices.Insert(args, 1, "-n")
	}
	bin := t.TempDir()
	cmd := exec.Command("go", args...)
	cmd.Dir = bin
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOBIN="+bin, "GOSUMDB=off", "GOFLAGS=-modcacherw",
		"GOMODCACHE="+t.TempDir(), "GOPROXY=file://"+proxy+",file://"+goEnv(t, "GOMODCACHE")+"/cache/download,"+goEnv(t, "GOPROXY"))
	out := must.Output(t, cmd)
	if !full {
		if !strings.Contains(out, tool+"/cmd/procfit@"+version) && !strings.Contains(out, "/procfit") {
			t.Errorf("nothing of procfit would be built: %.300s", out)
		}
		return
	}
	told, err := exec.Command(filepath.Join(bin, "procfit"), "--version").CombinedOutput()
	if err != nil || !strings.Contains(string(told), version) {
		t.Errorf("the installed program says %q, %v", told, err)
	}
}

// checkout copies what git knows of the working tree.
func checkout(t *testing.T, dir string) {
	t.Helper()
	list, err := git("ls-files", "-z")
	if err != nil {
		need.Skip(t, "what belongs to a release is what git knows: "+err.Error())
	}
	for _, name := range strings.Split(strings.TrimSuffix(list, "\x00"), "\x00") {
		to := filepath.Join(dir, filepath.FromSlash(name))
		b, err := os.ReadFile(filepath.Join(root, name))
		mode := os.FileMode(0o644)
		if f, statErr := os.Stat(filepath.Join(root, name)); statErr == nil {
			mode = f.Mode().Perm()
		}
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = os.WriteFile(to, b, mode)
		}
		if err != nil && !os.IsNotExist(err) { // git knows of it, and it is being removed
			t.Fatal(err)
		}
	}
}

// publish puts a module into the proxy; what an archive of a module may not hold is
// an error.
func publish(t *testing.T, proxy, name, dir string) {
	t.Helper()
	if checked, err := zip.CheckDir(dir); err != nil || checked.Err() != nil {
		t.Fatalf("%s cannot be a module's archive: %v %v", name, err, checked.Err())
	}
	at := filepath.Join(proxy, name, "@v") // no upper case in these paths, so nothing to escape
	info := must.Get(json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0)}))(t)
	must.Write(t, filepath.Join(at, version+".mod"), must.Read(t, filepath.Join(dir, "go.mod")))
	must.Write(t, filepath.Join(at, version+".info"), string(info))
	must.Write(t, filepath.Join(at, "list"), version+"\n")
	f := must.Get(os.Create(filepath.Join(at, version+".zip")))(t)
	defer f.Close()
	must.OK(t, zip.CreateFromDir(f, module.Version{Path: name, Version: version}, dir))
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out := must.Get(exec.Command("go", "env", name).Output())(t)
	return strings.TrimSpace(string(out))
}
