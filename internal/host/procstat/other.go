//go:build !linux || portable

package procstat

import (
	"errors"
	"fmt"
	"time"
)

// errUnsupported is returned by everything here on a system without /proc.
var errUnsupported = fmt.Errorf("counters of processes need Linux: %w", errors.ErrUnsupported)

// ReadStat needs Linux.
func ReadStat(pid int) (Stat, error) { return Stat{}, errUnsupported }

// ReadCPUTime needs Linux.
func ReadCPUTime(pid int) (time.Duration, error) { return 0, errUnsupported }

// ReadMemory needs Linux.
func ReadMemory(pid int) (Memory, error) { return Memory{}, errUnsupported }

// ReadTracing needs Linux.
func ReadTracing(tid int) (Tracing, error) { return Tracing{}, errUnsupported }

// ThreadGroup needs Linux.
func ThreadGroup(tid int) (int, error) { return 0, errUnsupported }

// ReadCPU needs Linux.
func ReadCPU(cpus ...int) (CPU, error) { return CPU{}, errUnsupported }

// Host needs Linux.
func Host() (HostInfo, error) { return HostInfo{}, errUnsupported }

// Sampler needs Linux.
type Sampler struct{}

// NewSampler needs Linux.
func NewSampler() (*Sampler, error) { return nil, errUnsupported }

func (s *Sampler) Source() (Source, error) { return "", errUnsupported }

func (s *Sampler) Read(pid int) (Reading, error) { return Reading{}, errUnsupported }

func (s *Sampler) ReadOn(stat Stat) (Reading, error) { return Reading{}, errUnsupported }

func (s *Sampler) ReadTimes(stat Stat) (Reading, error) { return Reading{}, errUnsupported }

func (s *Sampler) Close() error { return nil }

// Span needs Linux.
type Span struct{}

func (s *Sampler) Start(pids []int) (*Span, error) { return nil, errUnsupported }

func (sp *Span) Look(pids []int) {}

func (sp *Span) Delta() Use { return Use{} }

// FaultWatch needs Linux.
type FaultWatch struct{}

// WatchMany needs Linux.
func WatchMany(stats []Stat) *FaultWatch { return &FaultWatch{} }

// Stop returns that nothing is known.
func (w *FaultWatch) Stop() map[Identity]FaultUse { return nil }
