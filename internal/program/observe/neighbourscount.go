package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/maxprocs/facts"
)

// counted is what the kernel counted of all of them, and at the same time of the process.
type counted struct {
	used  *time.Duration // nil: this kernel does not count it there
	own   Stat
	self  Stat // procfit
	limit facts.Throttling
	err   error // why the throttling is not known
}

// count reads what the kernel counts of the process and of all processes of the place.
func (w *neighbourhood) count() (c counted, err error) {
	if c.own, err = procstat.ReadStat(w.pid); err != nil {
		return c, w.gone()
	}
	if c.self, err = procstat.ReadStat(os.Getpid()); err != nil {
		return c, err
	}
	if w.dir == "" {
		now, err := procstat.ReadCPU(w.cpus...)
		if err != nil {
			return c, err
		}
		c.used, c.err = new(now.Since(CPU{}).Busy), errors.ErrUnsupported
		return c, nil
	}
	c.limit, c.err = facts.ReadThrottling(w.dir)
	if c.used, err = usageOf(w.dir); err != nil {
		err = fmt.Errorf("the CPU time of the cgroup with the limit cannot be read: %w; give the CPUs of the others as a number", err)
	}
	return c, err
}

// usageOf is the CPU time of a cgroup and of those below it: usage_usec of cpu.stat on v2,
// cpuacct.usage on v1, where that controller is mounted together with cpu. nil: neither is
// there.
func usageOf(dir string) (*time.Duration, error) {
	b, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		if text, ok := strings.CutPrefix(line, "usage_usec "); ok {
			return timeOf(text, time.Microsecond, filepath.Join(dir, "cpu.stat"))
		}
	}
	file := filepath.Join(dir, "cpuacct.usage")
	b, err = os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return timeOf(string(b), time.Nanosecond, file)
}

func timeOf(text string, unit time.Duration, file string) (*time.Duration, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return nil, fmt.Errorf("%s: %q is not a CPU time", file, strings.TrimSpace(text))
	}
	return new(time.Duration(n) * unit), nil
}
