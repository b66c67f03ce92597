package facts

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Go is the policy of the Go runtime itself, as released. It also ignores what the
// runtime ignores: parent cgroups, malformed files, and everything after an error.
//
// The zero value uses the program's own version and settings from the Facts. Version
// without Language means that go.mod names the same version.
type Go struct {
	Version  string // of the toolchain that built the program: "1.25", "go1.26.8"
	Language string // the go line of its go.mod: "1.20"
}

// The minor releases at which the default changed, each checked on released
// toolchains.
const (
	minorNumCPU     = 5  // before: 1
	minorContainer  = 25 // reads its own group's limit, if the language is as new
	minorGroupFirst = 26 // 1.25 takes every mount's root to be / (golang/go#76390)
	minorPlusSign   = 26 // GOMAXPROCS=+3 counts
)

// floorOfLimit is the minimum of a default that follows a limit (runtime,
// adjustCgroupGOMAXPROCS).
const floorOfLimit = 2

// Check reports whether the versions are valid. Decide uses the newest release for an
// invalid version and says so in its reasons.
func (p Go) Check() error {
	for _, v := range []string{p.Version, p.Language} {
		if v == "" {
			continue
		}
		if _, err := parseGoVersion(v); err != nil {
			return err
		}
	}
	return nil
}

// Name implements Policy.
func (Go) Name() PolicyName { return PolicyGo }

// ReadsLimit reports whether the runtime follows the limit of its own cgroup if the
// environment does not set GOMAXPROCS.
func (p Go) ReadsLimit(f Facts) bool {
	_, minor, _ := p.release(f)
	on, _ := p.containerAware(f)
	return on && minor >= minorContainer
}

// release is the version as it is written, and its minor release: the newest if it is invalid.
func (p Go) release(f Facts) (version string, minor int, err error) {
	if version = p.Version; version == "" {
		version = f.GoVersion
	}
	if minor, err = parseGoVersion(version); err != nil {
		minor = math.MaxInt32
	}
	return version, minor, err
}

func (p Go) decide(f Facts) Decision {
	d := newDecision(p, f)
	version, minor, err := p.release(f)
	if err != nil {
		if version == "" {
			version = "of an unknown version"
		}
		d.because("Go %s: assumed to be the newest release", version)
	}

	if n, ok := d.readEnv(f.Env, minor); ok {
		return d.win(KindEnv, n)
	}
	if minor < minorNumCPU {
		d.because("the default before Go 1.5 is 1")
		d.add(Candidate{What: KindDefault, CPUs: 1, Procs: 1})
		return d.win(KindDefault, 1)
	}
	procs := d.addCPUs(f)
	if minor < minorContainer {
		d.because("Go 1.%d does not read cgroup limits", minor)
		return d.win(KindAffinity, procs)
	}
	if on, why := p.containerAware(f); !on {
		d.because("%s: the runtime does not read cgroup limits", why)
		return d.win(KindAffinity, procs)
	}
	limit, ok := d.readLeaf(f, minor)
	if !ok {
		return d.win(KindAffinity, procs)
	}
	n := goInt32(math.Max(math.Ceil(limit.CPUs), floorOfLimit), f.GOARCH)
	if n <= 0 {
		return d.die(limit, n)
	}
	d.add(Candidate{What: KindLimit, CPUs: finite(limit.CPUs), Procs: n, File: limit.File, Raw: limit.Raw})
	d.because("%s limits its own cgroup to %s; rounded up, and at least %d: %d",
		limit.describe(), countCPUs(limit.CPUs), floorOfLimit, n)
	if tight, ok := f.Tightest(); ok && tight.CPUs < limit.CPUs {
		d.because("the runtime does not read the tighter limit of %s of a parent cgroup (%s)", countCPUs(tight.CPUs), tight.describe())
	}
	if _, seen := f.cpus(); n < procs || !seen {
		return d.win(KindLimit, n)
	}
	d.because("that is not below its affinity")
	return d.win(KindAffinity, procs)
}

// readEnv reads GOMAXPROCS as the runtime does: a positive decimal int32. It silently
// ignores anything else.
func (d *Decision) readEnv(env Fact, minor int) (int, bool) {
	n, err := strconv.ParseInt(env.Raw, 10, 32)
	switch {
	case env.State == Unreadable:
		d.because("its environment is unreadable (%s); assumed to have no GOMAXPROCS", env.Error)
		d.Unknown = append(d.Unknown, "GOMAXPROCS in its environment is unreadable: "+env.Error)
		return 0, false
	case env.State != Known:
		return 0, false
	case errors.Is(err, strconv.ErrRange) && strings.Trim(env.Raw, "0123456789") == "":
		d.because("GOMAXPROCS=%q in the environment is above %d, so the runtime ignores it", env.Raw, math.MaxInt32)
		return 0, false
	case err != nil || n <= 0 || minor < minorPlusSign && strings.HasPrefix(env.Raw, "+"):
		d.because("GOMAXPROCS=%q in the environment is not a positive integer, so the runtime ignores it", env.Raw)
		return 0, false
	}
	d.because("GOMAXPROCS=%q is set in the environment, so the runtime never computes a default", env.Raw)
	d.add(Candidate{What: KindEnv, CPUs: float64(n), Procs: int(n), File: env.File, Raw: env.Raw})
	return int(n), true
}

// containerAware reports whether the setting containermaxprocs is on. GODEBUG in the
// environment overrides what the linker wrote for the module's go line.
func (p Go) containerAware(f Facts) (on bool, why string) {
	if f.GODEBUG.State == Known {
		if v, ok := godebug(f.GODEBUG.Raw, "containermaxprocs"); ok {
			return v > 0, fmt.Sprintf("GODEBUG=%s in the environment", f.GODEBUG.Raw)
		}
	}
	if p.Language != "" {
		minor, err := parseGoVersion(p.Language)
		return err != nil || minor >= minorContainer, fmt.Sprintf("the language version %s is below 1.25", p.Language)
	}
	if v, ok := godebug(f.DefaultGODEBUG, "containermaxprocs"); ok && p.Version == "" {
		return v > 0, "the program was linked with containermaxprocs=0, as with a go line below 1.25"
	}
	return true, ""
}

// godebug finds a setting in "a=1,b=2". The last one that is an integer is used.
func godebug(settings, key string) (value int64, found bool) {
	for _, s := range strings.Split(settings, ",") {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k != key || strings.HasPrefix(v, "+") {
			continue
		}
		if n, err := strconv.ParseInt(v, 10, 32); err == nil {
			value, found = n, true
		}
	}
	return value, found
}
