//go:build !linux || portable

package procstat

// ReadStat needs Linux.
func ReadStat(pid int) (Stat, error) { return Stat{}, ErrUnsupported }

// ReadMemory needs Linux.
func ReadMemory(pid int) (Memory, error) { return Memory{}, ErrUnsupported }

// ThreadGroup needs Linux.
func ThreadGroup(tid int) (int, error) { return 0, ErrUnsupported }

// ReadCPU needs Linux.
func ReadCPU(cpus ...int) (CPU, error) { return CPU{}, ErrUnsupported }

// Host needs Linux.
func Host() (HostInfo, error) { return HostInfo{}, ErrUnsupported }

// Sampler needs Linux.
type Sampler struct{}

// NewSampler needs Linux.
func NewSampler() (*Sampler, error) { return nil, ErrUnsupported }

func (s *Sampler) Source() (Source, error) { return "", ErrUnsupported }

func (s *Sampler) ReadOn(stat Stat) (Reading, error) { return Reading{}, ErrUnsupported }

func (s *Sampler) Close() error { return nil }

// Span needs Linux.
type Span struct{}

func (s *Sampler) Start(pids []int) (*Span, error) { return nil, ErrUnsupported }

func (sp *Span) Look(pids []int) {}

func (sp *Span) Delta() Use { return Use{} }
