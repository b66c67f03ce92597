package supervisor

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Keeper removes what a run must not leave behind, should procfit die by whatever
// signal: a process of its own that learns of a folder or a cgroup before it is
// made. It is for one goroutine at a time. Elsewhere than on Linux there is no
// such process, and Close alone removes anything.
type Keeper struct {
	line *line
	kept map[string]op // by path
}

// NewKeeper starts one; Close must follow.
func NewKeeper() (*Keeper, error) {
	l, err := startKeeper()
	if err != nil {
		return nil, fmt.Errorf("start a keeper: %w", err)
	}
	return &Keeper{line: l, kept: map[string]op{}}, nil
}

// Folder makes a temporary folder. Its name begins with the prefix.
func (k *Keeper) Folder(prefix string) (path string, err error) {
	path = TempName("", prefix)
	if err := k.keep(path, opFolder); err != nil {
		return "", err
	}
	return path, os.Mkdir(path, 0o700)
}

// Group notes a cgroup that is about to be made; see cgroup.Parent.Announce.
func (k *Keeper) Group(dir string) error { return k.keep(dir, opGroup) }

func (k *Keeper) keep(path string, how op) error {
	k.kept[path] = how
	return k.tell(command{Op: how, Path: path})
}

// tell starts the process again when somebody has killed it.
func (k *Keeper) tell(c command) error {
	if k.line == nil || k.line.tell(c) == nil {
		return nil
	}
	k.line.hangUp()
	k.line.wait()
	next, err := startKeeper()
	if err != nil {
		return fmt.Errorf("start a keeper again: %w", err)
	}
	k.line = next
	for path, how := range k.kept {
		if err := next.tell(command{Op: how, Path: path}); err != nil {
			return fmt.Errorf("the keeper, process %d, is gone, which removes what procfit leaves behind: %w", next.pid, err)
		}
	}
	return nil
}

// Close removes the folders, and the groups that are still there, and ends the
// process.
func (k *Keeper) Close() error {
	var failed []error
	for path, how := range k.kept {
		if how == opFolder {
			failed = append(failed, os.RemoveAll(path))
		}
	}
	if k.line != nil {
		k.line.hangUp() // which removes the groups
		k.line.wait()   // lost or not, the folders are gone, and groups are the next run's to remove
	}
	return errors.Join(failed...)
}

// TempName is a name in dir, by default the system's directory for temporary
// files, that nobody else has or can guess.
func TempName(dir, prefix string) string {
	return filepath.Join(cmp.Or(dir, os.TempDir()), prefix+rand.Text())
}

func removeFolders(folders []string) {
	for _, folder := range folders {
		_ = os.RemoveAll(folder) // nobody is left to be told
	}
}
