package steer

import (
	"debug/dwarf"
	"debug/elf"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestOffsets holds the table of offsets against what each release writes of its records
// into a program, for both processors.
func TestOffsets(t *testing.T) {
	toolchains := []string{""}
	switch {
	case need.Whole():
		toolchains = []string{"", "go1.17.13", "go1.18.10", "go1.19.13", "go1.20.14", "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.6", "go1.24.13", "go1.25.0", "go1.25.14", "go1.26.11", "go1.27.1", "go1.27.4"}
	case need.Full():
		toolchains = []string{"", "go1.17.13", "go1.21.13", "go1.24.13", "go1.27.4"}
	}
	if release := need.NewGo(); release != "" {
		toolchains = []string{"go" + release}
	}
	for _, toolchain := range toolchains {
		for _, arch := range []string{"amd64", "arm64"} {
			t.Run(toolchain+"/"+arch, func(t *testing.T) {
				p := built.Program{Name: "records", Files: map[string]string{"go.mod": "module example.com/records\n\ngo 1.17\n", "main.go": "package main\n\nfunc main() {}\n"}, Env: []string{"CGO_ENABLED=0", "GOARCH=" + arch}}
				if toolchain != "" {
					p.Env = append(p.Env, "GOTOOLCHAIN="+toolchain, "GOENV=off", "GOFLAGS=")
				}
				got, version := records(t, p.Run(t))
				want, why := offsetsOf(version)
				if why != "" {
					t.Fatalf("%s: %s", version, why)
				}
				for name, offset := range map[string]uint64{
					"g.stack": gStackLo, "g.m": gM, "p.status": pStatus,
					"g.atomicstatus": want.status, "m.curg": want.curg, "m.p": want.p, "m.mallocing": want.mallocing,
					"m.preemptoff": want.preemptoff, "m.locks": want.locks, "p.m": want.pm,
				} {
					if got[name] != int64(offset) {
						t.Errorf("%s: %s is at %#x, the table has %#x", version, name, got[name], offset)
					}
				}
			})
		}
	}
}

// records are where fields of g, m and p are in a program, and its Go version.
func records(t *testing.T, path string) (offsets map[string]int64, version string) {
	t.Helper()
	f := must.Get(elf.Open(path))(t)
	defer f.Close()
	d := must.Get(f.DWARF())(t)
	offsets = map[string]int64{}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		if e.Tag == dwarf.TagCompileUnit {
			if producer, _ := e.Val(dwarf.AttrProducer).(string); name == "runtime" {
				version = producerVersion(producer)
			}
			continue
		}
		if e.Tag == dwarf.TagStructType && (name == "runtime.g" || name == "runtime.m" || name == "runtime.p") {
			typ := must.Get(d.Type(e.Offset))(t)
			for _, field := range typ.(*dwarf.StructType).Field {
				offsets[name[len("runtime."):]+"."+field.Name] = field.ByteOffset
			}
		}
		r.SkipChildren()
	}
	return offsets, version
}

// TestReleasesKnown: a release that the table does not have is refused.
func TestReleasesKnown(t *testing.T) {
	for version, want := range map[string]Why{
		"go1.26.1": "", "go1.17": "", "go1.22.9 (Red Hat 1.22.9-1.el9)": "", "go1.27.1 X:nodwarf5": "",
		"go1.16.15": TooOld, "go1.9": TooOld, "go1.99.1": Unknown, "devel go1.28-0a1b2c": Unknown, "": Unknown,
		"go1.26.1 X:staticlockranking": Unknown, "go1.26.1 X:runtimesecret": Unknown, "go1.28rc1": Unknown,
	} {
		if _, why := offsetsOf(version); why != want {
			t.Errorf("%q: %q, want %q", version, why, want)
		}
	}
}

// producerVersion is the release in the name of a compiler: "Go cmd/compile go1.26.1; regabi".
func producerVersion(producer string) string {
	for _, word := range strings.FieldsFunc(producer, func(r rune) bool { return r == ' ' || r == ';' }) {
		if strings.HasPrefix(word, "go1") {
			return word
		}
	}
	return ""
}
