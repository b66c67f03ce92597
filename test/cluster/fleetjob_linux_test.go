package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// inImage are the programs of the image that the CronJob of a fleet runs, next to procfit.
var inImage = []string{"sh", "git", "grep", "mktemp", "rm"}

// aLibrary is the path of a library, or of the program that loads them, in what ldd prints.
var aLibrary = regexp.MustCompile(`(/\S+) \(0x`)

// withGit are the files of that image, by their paths in it.
func (s *shop) withGit(ctx context.Context) map[string]string {
	s.Helper()
	files := map[string]string{"usr/local/bin/procfit": s.program}
	for _, name := range inImage {
		path := must.Get(exec.LookPath(name))(s)
		files["usr/bin/"+name] = path
		out, err := exec.CommandContext(ctx, "ldd", path).Output()
		if err != nil {
			s.Fatalf("ldd %s: %v", path, err)
		}
		for _, m := range aLibrary.FindAllSubmatch(out, -1) {
			files[strings.TrimPrefix(string(m[1]), "/")] = string(m[1])
		}
	}
	files["bin/sh"] = files["usr/bin/sh"] // which git runs by this path
	for _, name := range []string{"git-upload-pack", "git-receive-pack"} {
		files["usr/bin/"+name] = files["usr/bin/git"]
	}
	return files
}

// TestFleetJob: the CronJob of deploy/kubernetes/fleet.yaml, run once. It clones the
// repository, sweeps with the rights of its account, keeps the results in its volume and
// pushes the branch.
func TestFleetJob(t *testing.T) {
	t.Parallel()
	if runtime.NumCPU() < 2 {
		t.Skip("needs a default above 1")
	}
	need.Command(t, "git")
	need.Command(t, "ldd")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	s := openShop(ctx, t, "fleetjob")
	must.OK(t, s.cluster.Load(ctx, steered.Run(t), steeredImage))
	must.OK(t, s.cluster.LoadFiles(ctx, s.withGit(ctx), "registry.example/tools/procfit-git:v1"))

	// The volume has the remote repository, too: a path of the node, owned by the job's user.
	volume, work := t.TempDir(), t.TempDir()
	bare := filepath.Join(volume, "shop.git")
	for name, text := range map[string]string{
		"plain.yaml": deployment("plain", "", "100m"),
		"fleet.yaml": `services:
  plain:
    cluster: {object: deployment/plain}
    manifest: plain.yaml
compare: {procs: [default, 1]}
load: {trialTime: "1s,warmup=200ms", connections: 2, maxErrors: 50%}
stop: {until: trials=24}
cluster: {image: ` + fmt.Sprintf("%q", sweptImage) + `}
`,
	} {
		must.Write(t, filepath.Join(work, name), text)
	}
	s.committed(ctx, work)
	s.git(ctx, work, "clone", "--quiet", "--bare", ".", bare)
	own(t, volume, 65532)

	recipe := must.Get(os.ReadFile("../../deploy/kubernetes/fleet.yaml"))(t)
	recipe = bytes.Replace(recipe, []byte("namespace: shop}"), []byte("namespace: "+s.name+"}"), 1)
	kubectl(ctx, t, s.cluster, fmt.Sprintf(`apiVersion: v1
kind: PersistentVolume
metadata: {name: procfit-fleet}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  claimRef: {namespace: %s, name: procfit-fleet}
  hostPath: {path: %s}
`, s.name, volume), "apply", "-f", "-")
	kubectl(ctx, t, s.cluster, "", "--namespace", s.name, "create", "secret", "generic", "procfit-fleet", "--from-literal=repository=/results/shop.git")
	kubectl(ctx, t, s.cluster, "", "--namespace", s.name, "apply", "-f", filepath.Join(work, "plain.yaml"))
	kubectl(ctx, t, s.cluster, string(recipe), "--namespace", s.name, "apply", "-f", "-")
	kubectl(ctx, t, s.cluster, "", "--namespace", s.name, "create", "job", "now", "--from=cronjob/procfit-fleet")
	ended := func() (text string) {
		for {
			text = kubectl(ctx, t, s.cluster, "", "--namespace", s.name, "get", "job", "now", "--output", "jsonpath={.status.conditions[*].type}")
			if strings.Contains(text, "Complete") || strings.Contains(text, "Failed") {
				return text
			}
			time.Sleep(time.Second)
		}
	}()
	logs := kubectl(ctx, t, s.cluster, "", "--namespace", s.name, "logs", "job/now")
	t.Logf("%s", logs)
	if strings.Contains(ended, "Failed") {
		t.Fatalf("the job has failed: %s", ended)
	}
	own(t, volume, os.Getuid())
	if log := s.git(ctx, bare, "log", "--format=%s", "main..procfit/fleet"); log != "plain: GOMAXPROCS=1\n" {
		t.Errorf("the branch has %q", log)
	}
	if pages, _ := filepath.Glob(filepath.Join(volume, "report.html")); len(pages) != 1 {
		t.Errorf("the volume has no page: %v", pages)
	}
	s.empty(ctx)
}

// own gives all files below a folder to a user.
func own(t *testing.T, dir string, user int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, user, user)
	})
	must.OK(t, err)
}
