// Package profile gets CPU and allocation profiles of a Go program and sums them by
// function: those that a running program serves (net/http/pprof), and those that a test
// binary writes.
//
// A sum is what pprof calls flat: the CPU time, or the memory, of a function itself,
// without that of the functions which it calls. What takes the profile itself, and serves
// it, is in no sum.
//
// A profile is bytes from outside: it is read up to a size, and whatever is not a profile
// of the kind that was asked for is an error. Labels and lines are not read. A program
// without symbols has no names.
package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/number"
)

type Kind string

const (
	CPU         Kind = "cpu"         // CPU time
	Allocations Kind = "allocations" // memory that was allocated, freed since or not
)

// Name is the kind in a sentence.
func (k Kind) Name() string {
	if k == CPU {
		return "CPU"
	}
	return "allocation"
}

// mostBytes bounds a profile, as it is sent and as it is unpacked. That of a program which
// uses 64 CPUs for 10 s has about 10 MiB.
const mostBytes = 32 << 20

// column is which value of a profile's samples is summed.
type column struct {
	value, unit string  // its name and unit in the profile
	per         float64 // of one of ours in the profile's unit
}

func (k Kind) column() column {
	if k == CPU {
		return column{"cpu", "nanoseconds", 1e9}
	}
	return column{"alloc_space", "bytes", 1}
}

// errNoProfile is what bytes are that anything else than a Go program has sent.
var errNoProfile = errors.New("it is not a profile")

// parse reads a profile, packed or not; value is which value of its samples is summed.
func parse(kind Kind, b []byte) (p *profile.Profile, value int, err error) {
	plain, err := unpacked(b)
	if err != nil {
		return nil, 0, err
	}
	if p, err = profile.ParseUncompressed(plain); err != nil || p.CheckValid() != nil {
		return nil, 0, errNoProfile
	}
	c := kind.column()
	value = slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == c.value })
	if value < 0 || p.SampleType[value].Unit != c.unit {
		return nil, 0, fmt.Errorf("it is a profile of another kind: expected one with %s in %s", c.value, c.unit)
	}
	return p, value, nil
}

// ReadFile reads the bytes of a profile that a program wrote.
func ReadFile(path string) ([]byte, error) { return folder.ReadRegular(path, mostBytes) }

// unpacked takes the packing off, which may hide far more than was sent.
func unpacked(b []byte) ([]byte, error) {
	if len(b) < 2 || b[0] != 0x1f || b[1] != 0x8b {
		return b, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, errNoProfile
	}
	plain, err := io.ReadAll(io.LimitReader(z, mostBytes+1))
	switch {
	case err != nil:
		return nil, errNoProfile
	case len(plain) > mostBytes:
		return nil, errTooLarge()
	}
	return plain, nil
}

func errTooLarge() error {
	return fmt.Errorf("it has more than %s", number.Short(number.Bytes(mostBytes)))
}

// Between is what was allocated between two profiles of the memory of a program, as go tool
// pprof reads it.
func Between(before, after []byte) ([]byte, error) {
	first, _, err := parse(Allocations, before)
	if err != nil {
		return nil, err
	}
	last, _, err := parse(Allocations, after)
	if err != nil {
		return nil, err
	}
	first.Scale(-1)
	merged, err := profile.Merge([]*profile.Profile{first, last})
	if err != nil {
		return nil, errors.New("the two profiles of its memory are not of one program")
	}
	merged.DefaultSampleType = Allocations.column().value
	var b bytes.Buffer
	err = merged.Write(&b)
	return b.Bytes(), err
}
