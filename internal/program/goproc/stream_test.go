package goproc_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"testing"
	"testing/iotest"

	"github.com/procfit/procfit/internal/program/goproc"
	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestReadStream reads programs from a stream as from their files, and holds no more of
// them than it may.
func TestReadStream(t *testing.T) {
	const most = 1 << 20 // bytes: less than any of them
	builds := map[string]goproctest.Build{"Linux": {}, "stripped": {Args: []string{"-ldflags=-s -w"}}}
	if need.Full() { // the standard library has to be built for it
		builds["pie"] = goproctest.Build{Args: []string{"-buildmode=pie"}}
	}
	for name, build := range builds {
		b := must.Get(os.ReadFile(build.Run(t)))(t)
		want := must.Get(goproc.Read(bytes.NewReader(b)))(t)
		for _, room := range []int64{most, int64(len(b))} {
			got, err := goproc.ReadStream(iotest.HalfReader(bytes.NewReader(b)), int64(len(b)), room)
			if room == most { // what is executed comes last, and may not have room
				got.Code = want.Code
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, room for %d bytes: %+v, %v; want %+v", name, room, got, err, want)
			}
		}
		if int64(len(b)) < most {
			t.Errorf("%s has only %d bytes", name, len(b))
		}
		// An archive that ends in the middle of it.
		if _, err := goproc.ReadStream(bytes.NewReader(b[:len(b)/8]), int64(len(b)), most); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s, truncated: %v", name, err)
		}
	}
}

func TestReadStreamWhole(t *testing.T) {
	var systems []string
	if need.Full() { // the standard library has to be built for it
		systems = []string{"windows"}
	}
	for _, system := range systems {
		b := must.Get(os.ReadFile(goproctest.Build{Env: []string{"GOOS=" + system, "CGO_ENABLED=0"}}.Run(t)))(t)
		size := int64(len(b))
		if got, err := goproc.ReadStream(bytes.NewReader(b), size, size); err != nil || got.MainModule != goproctest.Module {
			t.Errorf("%s: %+v, %v", system, got, err)
		}
	}
	if _, err := goproc.ReadStream(bytes.NewReader([]byte("MZ, a program for Windows")), 25, 24); !errors.Is(err, goproc.ErrTooLarge) {
		t.Errorf("without room: %v", err)
	}
	if _, err := goproc.ReadStream(bytes.NewReader([]byte("#!/bin/sh\n")), 10, 100); !errors.Is(err, goproc.ErrNotGo) {
		t.Errorf("a script: %v", err)
	}
	// A size that is a lie takes no memory.
	if _, err := goproc.ReadStream(bytes.NewReader([]byte("MZ")), 1<<40, 1<<41); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a lie: %v", err)
	}
}
