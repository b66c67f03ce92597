//go:build !portable

package supervisor

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/procstat"
)

// reap collects every child that has ended, orphans of the command too.
func (s *supervisor) reap() {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD): // none: nor any descendant, as orphans come to us
			s.childless = true
			return
		case err != nil || pid == 0:
			s.childless = false
			return
		case pid == s.pid && s.ended.IsZero():
			s.ended, s.status = time.Now(), status
		}
	}
}

// killAll kills every descendant, again and again since they may fork, until
// none is left, and returns those that are at the deadline; zero: no deadline.
func (s *supervisor) killAll(deadline time.Time) (left []int) {
	pause, began := time.Millisecond, time.Now()
	for s.reap(); !s.childless; s.reap() {
		all, _ := descendants(os.Getpid()) // /proc unreadable: the next round may do better
		left = killOnce(all)
		if !deadline.IsZero() && time.Now().After(deadline) {
			return left
		}
		select {
		case <-s.sigchld:
		case <-time.After(pause):
			pause = longer(pause, time.Since(began))
		}
	}
	return nil
}

// over reports whether all threads of a process have ended. Its first one may have ended before
// others, which still hold its files.
func over(p procstat.Stat) bool { return p.Ended() && p.Threads <= 1 }

// killOnce kills those that are not over, and returns them.
func killOnce(all []procstat.Stat) (pids []int) {
	for _, p := range all {
		if !over(p) {
			kill(p)
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// longer is the pause after another one, when killing has taken that long: what cannot be killed, such as a
// program of another user, may live for days, and SIGCHLD reports its end.
func longer(pause, taken time.Duration) time.Duration {
	most := 50 * time.Millisecond
	if taken > killPatience {
		most = 5 * time.Second
	}
	return min(2*pause, most)
}

// descendants lists all below root, parents first.
func descendants(root int) ([]procstat.Stat, error) {
	pids, err := procstat.IDs("/proc")
	if err != nil {
		return nil, err
	}
	children := map[int][]procstat.Stat{}
	for _, pid := range pids {
		if s, err := procstat.ReadStat(pid); err == nil {
			children[s.Parent] = append(children[s.Parent], s)
		}
	}
	all := slices.Clone(children[root])
	for i := 0; i < len(all); i++ { // grows as it goes
		all = append(all, children[all[i].PID]...)
		delete(children, all[i].PID) // a PID that was used again during the scan must not make a cycle
	}
	return all, nil
}

// kill sends SIGKILL to exactly this process, not to a later one of its PID: a
// descriptor of it is held while its start time is compared.
func kill(p procstat.Stat) {
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return
	}
	defer handle.Release()
	if now, err := procstat.ReadStat(p.PID); err == nil && now.Started == p.Started {
		_ = handle.Kill() // fails if it is gone
	}
}

// cleanUp does what a lost supervisor no longer can, and notes what it could not
// end.
func cleanUp(r request, lost *LostError) {
	lost.Left = endOrphans(time.Now().Add(killPatience))
	removeGroups(r.ProcsFiles)
	removeFolders(r.Folders)
}

// removeGroups removes the groups of these cgroup.procs, and kills what is still
// in them. What cannot be removed the next run will try again.
func removeGroups(procsFiles []string) {
	for _, file := range procsFiles {
		_ = cgroup.Remove(filepath.Dir(file))
	}
}

// endOrphans kills what lost supervisors left behind, until none is left or the
// deadline has come, and returns what is left.
func endOrphans(deadline time.Time) (left []int) {
	adopted := map[int]bool{} // and killed, so ours to reap; another zombie may be a supervisor
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left = nil
		children, err := orphans()
		if err != nil {
			return nil // without /proc nothing can be found
		}
		for _, child := range children {
			adopted[child.PID] = true
			below, _ := descendants(child.PID)
			left = append(left, killOnce(append(below, child))...)
		}
		if len(left)+len(adopted) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
		for pid := range adopted {
			if got, _ := unix.Wait4(pid, nil, unix.WNOHANG, nil); got == pid {
				delete(adopted, pid)
			}
		}
	}
}

// orphans are those of our children that a supervisor left to us: of another
// session than ours, as each supervisor begins one, and no supervisor.
func orphans() ([]procstat.Stat, error) {
	own, err := unix.Getsid(0)
	if err != nil {
		return nil, err
	}
	all, err := descendants(os.Getpid())
	if err != nil {
		return nil, err
	}
	var found []procstat.Stat
	for _, p := range all {
		if p.Parent != os.Getpid() || over(p) {
			continue
		}
		if session, err := unix.Getsid(p.PID); err == nil && session != own && !isSupervisor(p.PID) {
			found = append(found, p)
		}
	}
	return found, nil
}

// isSupervisor tells it by the command line. Just before it becomes one it still
// has ours.
func isSupervisor(pid int) bool {
	words, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return true // it is gone, or not to be seen: nothing to be killed
	}
	own, err := os.ReadFile("/proc/self/cmdline")
	return err != nil || bytes.Equal(words, own) || bytes.Equal(words, []byte("procfit\x00"+partSupervisor+"\x00"))
}
