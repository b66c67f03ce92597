package vm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// hardware is what an architecture needs to be emulated.
type hardware struct {
	qemu    string
	args    []string
	append  string // to the kernel's command line
	kernel  string
	busybox []byte
	pulse   bool // it has a second serial line
}

func hardwareOf(t testing.TB, m Machine) hardware {
	t.Helper()
	switch m.Arch {
	case "", "amd64":
		return hardware{
			qemu: need.Command(t, "qemu-system-x86_64"), args: []string{"-cpu", "max"},
			append: "console=ttyS0 no_timer_check", kernel: findKernel(t, "amd64"), busybox: busybox(t), pulse: true,
		}
	case "arm64":
		kernel := findKernel(t, "arm64")
		return hardware{
			// Emulating pointer authentication as defined costs half of the time.
			qemu: need.Command(t, "qemu-system-aarch64"), args: []string{"-M", "virt", "-cpu", "max,pauth-impdef=on"},
			append: "console=ttyAMA0", kernel: kernel, busybox: must.Get(os.ReadFile(filepath.Join(filepath.Dir(kernel), "..", "busybox")))(t),
		}
	}
	t.Fatalf("no machine of %q", m.Arch)
	return hardware{}
}

// busybox is the static one: the machine has no libraries.
func busybox(t testing.TB) []byte {
	data := must.Get(os.ReadFile(need.Command(t, "busybox")))(t)
	if bytes.Contains(data[:min(len(data), 4096)], []byte("/lib64/ld-linux")) {
		need.Skip(t, "needs a static busybox (Debian: apt-get install busybox-static)")
	}
	return data
}

func findKernel(t testing.TB, arch string) string {
	folder := "vm-kernel"
	if arch == "amd64" {
		if file := os.Getenv("PROCFIT_VM_KERNEL"); file != "" {
			return file
		}
	} else {
		folder += "-" + arch
	}
	cache := must.Get(os.UserCacheDir())(t)
	found, _ := filepath.Glob(filepath.Join(cache, "procfit", folder, "boot", "vmlinuz-*"))
	if len(found) == 0 {
		need.Skip(t, "needs a kernel for the emulated machine: run test/vm/kernel.sh "+arch)
	}
	return found[0]
}
