//go:build unix && (!linux || portable)

package supervisor

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
)

func groupOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// tree is a command's process group.
type tree struct {
	group  int
	forced *atomic.Bool // it had to be killed
}

func newTree(p *os.Process) (tree, error) { return tree{group: p.Pid, forced: new(atomic.Bool)}, nil }

func (t tree) ask() { _ = syscall.Kill(-t.group, syscall.SIGTERM) } // it may have ended

func (t tree) force() {
	t.forced.Store(true)
	t.kill()
}

func (t tree) kill() { _ = syscall.Kill(-t.group, syscall.SIGKILL) }

// end kills what the command left of its cgroup, and reports whether the command had to
// be killed itself.
func (t tree) end() bool {
	if err := syscall.Kill(-t.group, 0); !errors.Is(err, syscall.ESRCH) {
		t.kill()
	}
	return t.forced.Load()
}
