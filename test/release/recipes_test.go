package release

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// krew: the manifest has the archives' checksums, and what it installs, a link named
// kubectl-procfit, is procfit kube.
func (r rehearsal) krew(t *testing.T) {
	manifest := read(t, filepath.Join(r.dist, "krew/procfit.yaml"))
	systems := []string{"linux_amd64.tar.gz"}
	if r.whole {
		systems = []string{"linux_amd64.tar.gz", "linux_arm64.tar.gz", "darwin_amd64.tar.gz", "darwin_arm64.tar.gz", "windows_amd64.zip", "windows_arm64.zip"}
	}
	for _, system := range systems {
		r.named(t, manifest, system)
	}
	if n := strings.Count(manifest, "sha256:"); n != len(systems) || !strings.Contains(manifest, "version: "+version+"\n") || !strings.Contains(manifest, "- bin: procfit\n") {
		t.Errorf("%d programs: %s", n, manifest)
	}
	dir := t.TempDir()
	r.unpack(t, dir, "procfit")
	plugin := filepath.Join(dir, "kubectl-procfit")
	must.OK(t, os.Symlink(filepath.Join(dir, "procfit"), plugin))
	shows(t, exec.Command(plugin, "sweep", "--help"), "procfit kube sweep")
}

// named: a recipe has the address and the checksum of an artifact.
func (r rehearsal) named(t *testing.T, recipe, end string) {
	t.Helper()
	file := r.file(end)
	sum := sha256.Sum256([]byte(read(t, file)))
	must.Say(t, strings.ToLower(recipe), hex.EncodeToString(sum[:]), "https://github.com/procfit/procfit/releases/download/")
}

// winget: the manifests have the checksums of the two archives.
func (r rehearsal) winget(t *testing.T) {
	winget := ""
	files, err := filepath.Glob(filepath.Join(r.dist, "winget/manifests/p/procfit/procfit", version[1:], "*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		winget += read(t, file)
	}
	r.named(t, winget, "windows_amd64.zip")
	r.named(t, winget, "windows_arm64.zip")
}

// sboms: each archive has one in both forms, which name all modules of its program.
func (r rehearsal) sboms(t *testing.T) {
	for _, program := range []string{"procfit", "procfit-run"} {
		for _, end := range []string{"linux_amd64.tar.gz", "linux_arm64.tar.gz", "darwin_amd64.tar.gz", "darwin_arm64.tar.gz", "windows_amd64.zip", "windows_arm64.zip"} {
			r.sbom(t, program, end)
		}
	}
}

func (r rehearsal) sbom(t *testing.T, program, end string) {
	t.Helper()
	var spdx struct {
		Packages []struct{ Name, VersionInfo string }
	}
	var cyclonedx struct {
		Components []struct{ Name, Version string }
	}
	for form, to := range map[string]any{".spdx.json": &spdx, ".cdx.json": &cyclonedx} {
		must.OK(t, json.Unmarshal([]byte(read(t, r.fileOf(program, end+form))), to))
	}
	have := map[string][]string{}
	for _, p := range spdx.Packages {
		have["SPDX"] = append(have["SPDX"], p.Name+" "+p.VersionInfo)
	}
	for _, c := range cyclonedx.Components {
		have["CycloneDX"] = append(have["CycloneDX"], c.Name+" "+c.Version)
	}
	for form, list := range have {
		for _, module := range r.modules(t, program, end) {
			if !slices.Contains(list, module) {
				t.Errorf("%s_%s: %s, of %d components, is without %s", program, end, form, len(list), module)
			}
		}
	}
}

// modules are those that a program says that it has.
func (r rehearsal) modules(t *testing.T, program, end string) (list []string) {
	t.Helper()
	system, _, _ := strings.Cut(end, ".")
	info := must.Get(buildinfo.ReadFile(r.programs(t, program, system)[0]))(t)
	list = append(list, tool+" "+version)
	for _, d := range info.Deps {
		if !strings.HasPrefix(d.Path, tool) {
			list = append(list, d.Path+" "+d.Version)
		}
	}
	return list
}
