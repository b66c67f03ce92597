package cluster

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Version is that of Kubernetes.
const Version = "v1.36.3"

// The module that Kubernetes is built in. The published one names its staging
// repositories v0.0.0 and replaces them by folders, so that each is replaced by its
// release here. For another version: change it and Version, and run go mod tidy in a
// folder that holds both as go.mod and go.sum, next to a file that imports commands.
var (
	//go:embed testdata/kubernetes.mod
	goMod []byte
	//go:embed testdata/kubernetes.sum
	goSum []byte
	//go:embed testdata/pause.go.txt
	pauseSource []byte

	// The module that Helm is a tool of; go get -tool in a folder that holds both as go.mod
	// and go.sum changes its version.
	//go:embed testdata/helm.mod
	helmMod []byte
	//go:embed testdata/helm.sum
	helmSum []byte
)

const helmPackage = "helm.sh/helm/v4/cmd/helm"

var commands = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubectl"}

// packages are Debian's, by a program of each.
var packages = map[string]string{
	"etcd": "etcd-server", "containerd": "containerd", "ctr": "containerd", "runc": "runc", "/usr/lib/cni/ptp": "containernetworking-plugins",
	"iptables": "iptables", "ip": "iproute2", "unshare": "util-linux", "go": "golang",
}

// Missing says what there is not that Start needs, or is empty.
func Missing() string {
	if os.Geteuid() != 0 {
		return "needs root"
	}
	var missing []string
	for program, pkg := range packages {
		if _, err := exec.LookPath(program); err != nil && !strings.Contains(strings.Join(missing, " "), pkg) {
			missing = append(missing, pkg)
		}
	}
	if len(missing) > 0 {
		return "needs " + strings.Join(missing, ", ") + " (Debian: apt-get install --no-install-recommends " + strings.Join(missing, " ") + ")"
	}
	return ""
}

// Build makes what a cluster is made of, and Helm, where it is not there yet: once a
// release of each and of Go.
func Build(ctx context.Context, log io.Writer) error {
	_, err := binaries(ctx, log)
	if err == nil {
		_, err = Helm(ctx, log)
	}
	return err
}

// Helm is the path of the program helm.
func Helm(ctx context.Context, log io.Writer) (string, error) {
	dir, err := kept(ctx, "helm", [][]byte{helmMod, helmSum}, func(ctx context.Context, to string) error {
		fmt.Fprintln(log, "building Helm, once: some 2 minutes of CPU time")
		return compile(ctx, to, module{map[string][]byte{"go.mod": helmMod, "go.sum": helmSum}, "-s -w", []string{helmPackage}}, log)
	})
	return filepath.Join(dir, "helm"), err
}

// binaries is the folder of Kubernetes' programs, which are built where they are not
// there yet.
func binaries(ctx context.Context, log io.Writer) (string, error) {
	return kept(ctx, Version, [][]byte{goMod, goSum, pauseSource, []byte(strings.Join(commands, " "))}, func(ctx context.Context, to string) error {
		fmt.Fprintf(log, "building %s of Kubernetes %s, once: some 7 minutes on two CPUs that have nothing else to do, longer on busy ones\n", strings.Join(commands, ", "), Version)
		programs := []string{"./pause"}
		for _, c := range commands {
			programs = append(programs, "k8s.io/kubernetes/cmd/"+c)
		}
		return compile(ctx, to, module{map[string][]byte{"go.mod": goMod, "go.sum": goSum, "pause/main.go": pauseSource},
			"-s -w -X k8s.io/component-base/version.gitVersion=" + Version + " -X k8s.io/client-go/pkg/version.gitVersion=" + Version, programs}, log)
	})
}

// kept is a folder of programs in the cache, which build fills where it is not there yet
// for what decides it. Several may ask at once; one builds.
func kept(ctx context.Context, name string, decides [][]byte, build func(ctx context.Context, to string) error) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	key := sha256.New()
	for _, part := range append(decides, []byte(runtime.Version()+runtime.GOARCH)) {
		fmt.Fprintf(key, "%d ", len(part))
		key.Write(part)
	}
	dir := filepath.Join(cache, fmt.Sprintf("%s-%.8x", name, key.Sum(nil)))
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(cache, "build.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	part := dir + ".part"
	if err := os.RemoveAll(part); err != nil {
		return "", err
	}
	if err := build(ctx, part); err != nil {
		return "", err
	}
	return dir, os.Rename(part, dir)
}

type module struct {
	files    map[string][]byte
	ldflags  string
	programs []string
}

func compile(ctx context.Context, to string, m module, log io.Writer) error {
	src, err := os.MkdirTemp("", "procfit-cluster-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(src)
	for name, text := range m.files {
		name = filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	flags := []string{"-mod=mod", "-trimpath", "-buildvcs=false"}
	said := &progress{out: log, every: 30 * time.Second, began: time.Now()}
	list, err := goCommand(ctx, src, nil, slices.Concat([]string{"list"}, flags, []string{"-deps"}, m.programs))
	if err != nil {
		return err
	}
	said.total = bytes.Count(list, []byte("\n"))
	_, err = goCommand(ctx, src, said, slices.Concat([]string{"build", "-v"}, flags, []string{"-o", to + "/", "-ldflags", m.ldflags}, m.programs))
	fmt.Fprintf(log, "built in %.0f s: %s\n", time.Since(said.began).Seconds(), to)
	return err
}

// goCommand runs the go command outside of any workspace and lets others have the CPUs
// first. What it says on its standard error goes to said too, where that is given.
func goCommand(ctx context.Context, dir string, said io.Writer, args []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "5", "go"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0", "PWD="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var out, trouble bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &trouble
	if said != nil {
		cmd.Stderr = io.MultiWriter(&trouble, said)
	}
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(trouble.String())
		return nil, fmt.Errorf("build the parts of the cluster: go %s: %w: %s", args[0], err, text[max(0, len(text)-2000):])
	}
	return out.Bytes(), nil
}

// progress counts the lines of go build -v, a package each, and says every so often how
// many there were. What is in the build cache has none, so that total is a bound.
type progress struct {
	out         io.Writer
	every       time.Duration
	began, last time.Time
	done, total int
}

func (p *progress) Write(b []byte) (int, error) {
	p.done += bytes.Count(b, []byte("\n"))
	if now := time.Now(); now.Sub(p.began) >= p.every && now.Sub(p.last) >= p.every {
		p.last = now
		fmt.Fprintf(p.out, "%d of at most %d packages compiled after %s\n", p.done, p.total, now.Sub(p.began).Round(time.Second))
	}
	return len(b), nil
}
