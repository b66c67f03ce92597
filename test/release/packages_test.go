package release

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// machine is an empty system with a shell and a systemctl that notes what it is asked.
func machine(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	for _, dir := range []string{"bin", "tmp", "run/systemd/system", "usr/lib/systemd/system", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/log"} {
		must.OK(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	must.Write(t, filepath.Join(root, "var/lib/dpkg/status"), "")
	busybox := must.Get(exec.LookPath("busybox"))(t)
	for path, text := range map[string]string{"bin/sh": read(t, busybox), "bin/systemctl": "#!/bin/sh\necho \"$@\" >>/asked\n"} {
		must.Write(t, filepath.Join(root, path), text)
		must.OK(t, os.Chmod(filepath.Join(root, path), 0o755))
	}
	// What the unit refers to.
	targets, err := filepath.Glob("/usr/lib/systemd/system/*.target")
	if err != nil || len(targets) == 0 {
		t.Fatal("this machine has no units of systemd", err)
	}
	for _, target := range targets {
		must.Write(t, filepath.Join(root, target), read(t, target))
	}
	return root
}

// installed checks what a package has put into the root, and that its unit is one that
// systemd accepts and that holds the exporter within bounds.
func installed(t *testing.T, root, file string, start time.Time) {
	t.Helper()
	shows(t, exec.Command("chroot", root, "/usr/bin/procfit", "version"), "procfit "+version+"\n")
	size(t, file, time.Since(start))
	shows(t, exec.Command("chroot", root, "/usr/bin/kubectl-procfit", "sweep", "--help"), "procfit kube sweep")
	shows(t, exec.Command("chroot", root, "/usr/bin/procfit-run", "/bin/sh", "-c", "echo started"), "started\n")
	used(t, filepath.Join(root, "usr/bin"), filepath.Join(root, "usr/share/man"), filepath.Join(root, "usr/share/bash-completion/completions/procfit"))

	const unit = "procfit-exporter.service"
	if out, err := exec.Command("systemd-analyze", "verify", "--root="+root, unit).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v, %s", err, out)
	}
	// Of 100; a service without any sandboxing has 96.
	if out, err := exec.Command("systemd-analyze", "security", "--offline=yes", "--threshold=30", "--root="+root, unit).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v, %s", err, out)
	}
	asked(t, root, "daemon-reload", "try-restart "+unit)
}

// asked compares what systemctl was asked since the last time.
func asked(t *testing.T, root string, want ...string) {
	t.Helper()
	path := filepath.Join(root, "asked")
	if got := strings.Split(strings.TrimSpace(read(t, path)), "\n"); !slices.Equal(got, want) {
		t.Errorf("systemctl was asked %q, expected %q", got, want)
	}
	must.OK(t, os.Remove(path))
}

// nothing: after the removal, no file of procfit is left.
func nothing(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), "procfit") {
			t.Errorf("left after the removal: %s", path)
		}
		return err
	})
	must.OK(t, err)
}

// deb installs Debian's package in a root of its own, upgrades it and removes it.
func (r rehearsal) deb(t *testing.T) {
	root, file := machine(t), r.file("linux_amd64.deb")
	start := time.Now()
	r.run(t, root, os.Environ(), "dpkg", "--root="+root, "--install", file)
	installed(t, root, file, start)
	r.run(t, root, os.Environ(), "dpkg", "--root="+root, "--install", file)
	asked(t, root, "daemon-reload", "daemon-reload", "try-restart procfit-exporter.service") // nothing stops it
	r.run(t, root, os.Environ(), "dpkg", "--root="+root, "--purge", "procfit")
	asked(t, root, "disable --now procfit-exporter.service", "daemon-reload", "daemon-reload") // removed, then purged
	nothing(t, root)
}

// rpm does the same with that of Red Hat's systems.
func (r rehearsal) rpm(t *testing.T) {
	need.Command(t, "rpm")
	root, file := machine(t), r.file("linux_amd64.rpm")
	// A database of their own, and no dependency on /bin/sh, which no package owns here.
	rpm := func(args ...string) {
		t.Helper()
		r.run(t, root, os.Environ(), append([]string{"rpm", "--root=" + root, "--dbpath=/var/lib/rpm", "--nodeps"}, args...)...)
	}
	start := time.Now()
	rpm("--install", file)
	installed(t, root, file, start)
	rpm("--upgrade", "--force", file)
	asked(t, root, "daemon-reload", "try-restart procfit-exporter.service", "daemon-reload")
	rpm("--erase", "procfit")
	asked(t, root, "disable --now procfit-exporter.service", "daemon-reload")
	nothing(t, root)
}

// apk unpacks Alpine's package, whose own tool Debian does not have: three archives of
// tar, one after the other, of which the last has the files.
func (r rehearsal) apk(t *testing.T) {
	f := must.Get(os.Open(r.file("linux_amd64.apk")))(t)
	defer f.Close()
	start := time.Now()
	z := must.Get(gzip.NewReader(f))(t)
	root, info, names := t.TempDir(), "", []string{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		b := must.Get(io.ReadAll(in))(t)
		switch h.Name {
		case ".PKGINFO":
			info = string(b)
		case "usr/bin/procfit":
			must.Write(t, filepath.Join(root, h.Name), string(b))
			must.OK(t, os.Chmod(filepath.Join(root, h.Name), h.FileInfo().Mode()))
		}
	}
	shows(t, exec.Command(filepath.Join(root, "usr/bin/procfit"), "version"), "procfit "+version+"\n")
	size(t, f.Name(), time.Since(start))
	must.Say(t, info, "pkgname = procfit", "pkgver = "+version[1:], "arch = x86_64", "license = Apache-2.0")
	for _, name := range []string{"usr/bin/procfit-run", "usr/bin/kubectl-procfit", "usr/share/man/man1/procfit-sweep.1", "usr/share/bash-completion/completions/procfit"} {
		if !slices.Contains(names, name) {
			t.Errorf("the package has no %s: %q", name, names)
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "systemd") }) {
		t.Errorf("a unit for systemd, which Alpine has not: %q", names)
	}
}
