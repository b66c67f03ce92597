//go:build !portable

package supervisor

import (
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cgroup"
)

// keep is the supervisor's part without a command: it waits for the end of
// procfit and removes what is left of what it was told of, groups first, since
// what runs in them may be a program of one of the folders.
func keep(commands <-chan command) {
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	groups, folders := map[string]bool{}, map[string]bool{}
	for c := range commands {
		switch c.Op {
		case opGroup:
			groups[c.Path] = true
		case opFolder:
			folders[c.Path] = true
		case opForget:
			delete(groups, c.Path)
			delete(folders, c.Path)
		}
	}
	for group := range groups {
		_ = cgroup.Remove(group) // the next run tries again
	}
	for folder := range folders {
		removeFolders([]string{folder})
	}
}

// startKeeper starts the process of a keeper.
func startKeeper() (*line, error) {
	l, err := spawn(nil)
	if err != nil {
		return nil, err
	}
	if err := l.tell(request{}); err != nil {
		l.hangUp()
		if lost := l.wait(); lost != nil {
			return nil, lost
		}
		return nil, err
	}
	return l, nil
}
