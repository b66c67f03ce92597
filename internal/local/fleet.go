package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/cgroup"
	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/supervisor"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/internal/target"
)

// replica is one started copy of the target.
type replica struct {
	*target.Process
	group *cgroup.Group // nil: no arm has a quota
	url   string
	port  int // of the URL; 0 where it names none
	log   string
}

// fleet is all replicas of a trial.
type fleet []*replica

// start starts the replicas of a trial. On an error nothing is left running.
func (r *Runner) start(ctx context.Context, task sweep.Task) (f fleet, err error) {
	defer func() {
		if err != nil {
			f.end(0)
		}
	}()
	program := r.programs[programKey{task.Arm.GoVersion, task.Arm.Variant}]
	ports, err := target.FreePorts(task.Arm.Replicas)
	if err != nil {
		return nil, err
	}
	for i, port := range ports {
		one := &replica{url: target.ExpandPort([]string{r.config.URL}, port)[0], log: filepath.Join(r.config.LogDir, logName(task, i))}
		if one.port, err = r.checkPort(one.url); err != nil {
			return f, err
		}
		spec := supervisor.Spec{
			Command: target.ExpandPort(program.argv, port), Dir: program.dir, Env: environment(slices.Concat(r.config.Environ, r.config.Env), task.Arm.Procs),
			CPUs: r.config.ServerCPUs, LogLimit: logLimit,
		}
		if r.groups != nil {
			if one.group, err = r.groups.New(); err != nil {
				return f, fmt.Errorf("make a cgroup for the quota: %w", err)
			}
			spec.ProcsFiles = []string{one.group.ProcsFile()}
		}
		if task.Arm.QuotaCPUs != nil {
			if err = one.group.SetQuota(*task.Arm.QuotaCPUs); err != nil {
				return append(f, one), err
			}
		}
		if spec.Log, err = createLog(one.log); err != nil {
			return append(f, one), err
		}
		one.Process, err = target.Start(ctx, spec)
		spec.Log.Close()
		f = append(f, one)
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

const (
	// logLimit is what is kept of a replica's output in one trial.
	logLimit = 4 << 20
	// quotedLines are quoted of an output, in an error.
	quotedLines = 8
)

// createLog makes a log anew, readable for its owner alone. A symbolic link of
// that name is replaced and not followed.
func createLog(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return f, nil
}

// checkPort takes the port out of a URL and sees that nobody has it yet: the
// trial would measure that other program.
func (r *Runner) checkPort(raw string) (int, error) {
	if r.config.Kind() != Server {
		return 0, nil
	}
	u, err := url.Parse(raw)
	if err != nil {
		return 0, err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return 0, nil // the scheme's own
	}
	return port, target.PortInUse(u.Host)
}

// environment is the target's, with GOMAXPROCS as the arm says.
func environment(environ []string, procs *int) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return strings.HasPrefix(v, "GOMAXPROCS=") })
	if procs != nil {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(*procs))
	}
	return env
}

func logName(task sweep.Task, replica int) string {
	name := fmt.Sprintf("block%02d-%02d-%s", task.Block+1, task.Order+1, task.Arm.Label)
	if task.Role == journal.RolePilot {
		name = fmt.Sprintf("pilot%d", task.Block+1)
		if task.Arm.QuotaCPUs != nil {
			name += fmt.Sprintf("-quota%g", *task.Arm.QuotaCPUs)
		}
		name += task.Arm.GoVersion
	}
	if task.Arm.Replicas > 1 {
		name += fmt.Sprintf("-replica%d", replica+1)
	}
	return clean(name) + ".log"
}

// end stops every replica, all at once, and removes their groups. It may be
// called again.
func (f fleet) end(grace time.Duration) error {
	failures := make(chan error, len(f))
	for _, one := range f {
		go func() {
			var err error
			if one.Process != nil {
				_, err = one.Stop(grace)
			}
			if one.group != nil {
				err = errors.Join(err, one.group.Remove())
			}
			failures <- err
		}()
	}
	var err error
	for range f {
		err = errors.Join(err, <-failures)
	}
	return err
}

func (f fleet) urls() []string {
	var urls []string
	for _, one := range f {
		urls = append(urls, one.url)
	}
	return urls
}

// pids is every live process of the fleet.
func (f fleet) pids() []int {
	var pids []int
	for _, one := range f {
		pids = append(pids, one.pids()...)
	}
	return pids
}

func (one *replica) pids() []int {
	below, err := one.Descendants()
	if err != nil {
		return nil // it has ended
	}
	return below
}

// crashed returns the first replica that has ended by itself, if any.
func (f fleet) crashed() *replica {
	for _, one := range f {
		select {
		case <-one.Done():
			return one
		default:
		}
	}
	return nil
}
