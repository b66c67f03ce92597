package recipes

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// release serves an archive with a program, and its checksum, as the page of a release
// does.
func release(t *testing.T, program, checksum string) *httptest.Server {
	t.Helper()
	var archive bytes.Buffer
	zipped := must.Get(gzip.NewWriterLevel(&archive, gzip.BestSpeed))(t)
	w := tar.NewWriter(zipped)
	must.OK(t, w.WriteHeader(&tar.Header{Name: "LICENSE", Mode: 0o644}))
	must.OK(t, w.WriteHeader(&tar.Header{Name: "procfit", Mode: 0o755, Size: int64(len(program))}))
	must.Get(w.Write([]byte(program)))(t)
	must.OK(t, w.Close())
	must.OK(t, zipped.Close())
	if checksum == "" {
		checksum = fmt.Sprintf("%x", sha256.Sum256(archive.Bytes()))
	}
	name := fmt.Sprintf("procfit_0.1.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v0.1.0/checksums.txt":
			fmt.Fprintf(w, "%064d  another.tar.gz\n%s  %s\n%064d  %[3]s.spdx.json\n", 1, checksum, name, 2)
		case "/v0.1.0/" + name:
			_, _ = w.Write(archive.Bytes())
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// released serves the procfit of these tests as a release of it. TestAction builds one.
func released(t *testing.T) *httptest.Server {
	t.Helper()
	program := must.Read(t, need.Command(t, "procfit"))
	return release(t, program, "")
}

// TestInstallScript: what pipelines run takes a release only if its checksum and its
// attestation are right, and builds procfit where there is none.
func TestInstallScript(t *testing.T) {
	built.Reads(t, "../../../../deploy/ci")
	for _, command := range []string{"bash", "curl", "tar", "sha256sum"} {
		need.Command(t, command)
	}
	right := release(t, "#!/bin/sh\necho released\n", "")
	wrong := release(t, "#!/bin/sh\necho forged\n", strings.Repeat("0", 64))
	const built = true
	const verifies, refuses = "#!/bin/sh\necho \"$*\" >\"$ASKED\"\n", "#!/bin/sh\nexit 1\n"
	for name, tc := range map[string]struct {
		from      *httptest.Server
		version   string
		gh, token string
		compiler  bool
		code      int
		prints    string // by the script
		installed string // what the program prints; empty: there is none
	}{
		"a release":                        {right, "v0.1.0", verifies, "t", false, 0, "checksum and attestation are correct", "released"},
		"without gh":                       {right, "v0.1.0", "", "t", false, 0, "the attestation was not verified", "released"},
		"gh without a token":               {right, "v0.1.0", refuses, "", false, 0, "the attestation was not verified", "released"},
		"not built by the workflow":        {right, "v0.1.0", refuses, "t", built, 1, "the release workflow of procfit did not build", ""},
		"not the file of the release":      {wrong, "v0.1.0", verifies, "t", built, 1, "does not have the checksum of its release", ""},
		"a version that is not published":  {right, "v0.2.0", "", "", built, 0, "v0.2.0 is not published", "GOTOOLCHAIN=auto GOWORK=off CGO_ENABLED=0 -C ROOT build -o FOLDER/ ./cmd/procfit"},
		"a branch":                         {right, "main", "", "", built, 0, "main is not published", "GOTOOLCHAIN=auto GOWORK=off CGO_ENABLED=0 -C ROOT build"},
		"no version":                       {right, "", "", "", built, 0, "no version is not published", "GOTOOLCHAIN=auto"},
		"a branch that looks like a path":  {right, "v0.1.0/../v0.1.0", "", "", built, 0, "building it from source", "GOTOOLCHAIN=auto"},
		"neither a release nor a compiler": {right, "main", "", "", false, 2, "there is no Go to build it", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bin, folder, asked := t.TempDir(), filepath.Join(t.TempDir(), "a folder"), filepath.Join(t.TempDir(), "asked")
			for _, command := range []string{"bash", "curl", "tar", "gzip", "sha256sum", "grep", "uname", "mktemp", "mkdir", "dirname", "rm", "sed"} {
				must.OK(t, os.Symlink(need.Command(t, command), filepath.Join(bin, command)))
			}
			if tc.gh != "" {
				must.OK(t, os.WriteFile(filepath.Join(bin, "gh"), []byte(tc.gh), 0o755))
			}
			if tc.compiler { // prints its arguments where the program is to be
				must.OK(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\nprintf '#!/bin/sh\\necho \"%s\"\\n' \"GOTOOLCHAIN=$GOTOOLCHAIN GOWORK=$GOWORK CGO_ENABLED=$CGO_ENABLED $*\" >\"$OUT/procfit\"\n"+"/bin/chmod +x \"$OUT/procfit\"\n"), 0o755))
			}
			root := must.Get(filepath.Abs("../../../.."))(t)
			cmd := exec.Command("bash", filepath.Join(root, "deploy/ci/install.sh"), folder, tc.version)
			cmd.Env = []string{"PATH=" + bin, "PROCFIT_RELEASES=" + tc.from.URL, "GH_TOKEN=" + tc.token, "GOTOOLCHAIN=local", "ASKED=" + asked, "OUT=" + folder, "NO_PROXY=*"}
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != tc.code || !strings.Contains(string(out), tc.prints) {
				t.Errorf("exit code %d, want %d and %q: %s", code, tc.code, tc.prints, out)
			}
			got, _ := exec.Command(filepath.Join(folder, "procfit")).Output()
			want := strings.NewReplacer("ROOT", root, "FOLDER", folder).Replace(tc.installed)
			if !strings.HasPrefix(string(got), want) || (len(got) > 0) != (want != "") {
				t.Errorf("installed is %q, want %q", got, want)
			}
			if b, _ := os.ReadFile(asked); tc.gh == verifies && tc.from == right && !strings.Contains(string(b), "--repo procfit/procfit --signer-workflow procfit/procfit/.github/workflows/release.yaml") {
				t.Errorf("gh was asked %q", b)
			}
		})
	}
}
