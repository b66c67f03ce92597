//go:build !linux

package facts

import (
	"fmt"
	"os"
	"runtime"
)

// liveTree reads this system's own files.
type liveTree struct{}

func (liveTree) readFile(name string) ([]byte, error) {
	return (&fsTree{os.DirFS("/")}).readFile(name)
}

func (liveTree) look(name string) error { return (&fsTree{os.DirFS("/")}).look(name) }

// Read reads the facts of this process. Outside Linux these are runtime.NumCPU and the
// environment; there are no cgroups.
func Read() Facts {
	cpus := Fact{State: Known, CPUs: float64(runtime.NumCPU()), File: "runtime.NumCPU"}
	return Facts{
		PID:       os.Getpid(),
		Affinity:  cpus,
		Online:    cpus,
		Cgroup:    Cgroup{Fact: Fact{State: Absent}, Mode: ModeNone},
		Limits:    []Limit{},
		Env:       ownEnv("GOMAXPROCS"),
		GODEBUG:   ownEnv("GODEBUG"),
		GoVersion: runtime.Version(),
		GOARCH:    runtime.GOARCH,
	}
}

// ReadMemory reads the memory facts of this process; outside Linux that is the environment.
func ReadMemory() Memory {
	return Memory{PID: os.Getpid(), Limits: []MemoryLimit{}, Env: ownEnv("GOMEMLIMIT"), Cgroup: Cgroup{Fact: Fact{State: Absent}, Mode: ModeNone}}
}

// ReadPID needs Linux.
func ReadPID(pid int) (Facts, error) {
	return Facts{}, fmt.Errorf("process %d: reading another process's CPU limits needs Linux, this is %s", pid, runtime.GOOS)
}

// Reader reads the facts of many processes; it needs Linux too.
type Reader struct{ Variables []string }

// ReadPID needs Linux.
func (*Reader) ReadPID(pid int) (Facts, error) { return ReadPID(pid) }

// ReadMemory needs Linux.
func (*Reader) ReadMemory(pid int) (Memory, error) {
	_, err := ReadPID(pid)
	return Memory{}, err
}
