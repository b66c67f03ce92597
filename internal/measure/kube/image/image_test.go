package image

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/procfit/procfit/test/must"
)

// program is a file that says of itself to be for a machine, linked or not.
func program(t *testing.T, m elf.Machine, linked bool) []byte {
	t.Helper()
	var b bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(m), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	p := elf.Prog64{Type: uint32(elf.PT_LOAD)}
	if linked {
		p.Type = uint32(elf.PT_INTERP)
	}
	for _, v := range []any{h, p} {
		must.OK(t, binary.Write(&b, binary.LittleEndian, v))
	}
	return b.Bytes()
}

func write(t *testing.T, i Image) (Made, []byte) {
	t.Helper()
	var b bytes.Buffer
	made := must.Get(i.Write(&b))(t)
	return made, b.Bytes()
}

// What is written is read by others as the image that it is, in both of its forms, and
// is the same each time.
func TestImage(t *testing.T) {
	bin := program(t, elf.EM_AARCH64, false)
	i := Image{Name: "localhost/procfit:v1", Program: bin, Path: "/procfit", Version: "v1"}
	made, archive := write(t, i)
	if _, again := write(t, i); !bytes.Equal(archive, again) {
		t.Error("a second archive differs")
	}
	if made.Platform != "linux/arm64" || made.Name != i.Name {
		t.Errorf("made %+v", made)
	}
	dir := t.TempDir()
	untar(t, archive, dir)
	index := must.Get(layout.ImageIndexFromPath(dir))(t)
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 || manifest.Manifests[0].Digest.String() != made.Digest || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != i.Name {
		t.Errorf("index %+v, %v, want %s", manifest, err, made.Digest)
	}
	file := filepath.Join(dir, "image.tar")
	must.OK(t, os.WriteFile(file, archive, 0o600))
	img := must.Get(tarball.ImageFromPath(file, nil))(t)
	config, err := img.ConfigFile()
	if err != nil || config.Architecture != "arm64" || config.Config.Entrypoint[0] != "/procfit" || config.Config.User != "65534:65534" {
		t.Errorf("config %+v, %v", config, err)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("layers %v, %v", layers, err)
	}
	r := must.Get(layers[0].Uncompressed())(t)
	files := tar.NewReader(r)
	h, err := files.Next()
	if err != nil || h.Name != "procfit" || h.Mode != 0o755 {
		t.Fatalf("the layer begins with %+v, %v", h, err)
	}
	if got, err := io.ReadAll(files); err != nil || !bytes.Equal(got, bin) {
		t.Errorf("the layer has %d bytes of the program, %v", len(got), err)
	}
}

func untar(t *testing.T, archive []byte, dir string) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		must.OK(t, err)
		b := must.Get(io.ReadAll(r))(t)
		path := filepath.Join(dir, h.Name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, b, 0o600))
	}
}

func TestRefused(t *testing.T) {
	static := program(t, elf.EM_X86_64, false)
	for name, tc := range map[string]struct {
		image Image
		want  string
	}{
		"linked":       {Image{Name: "a:v1", Program: program(t, elf.EM_X86_64, true)}, "CGO_ENABLED=0"},
		"no program":   {Image{Name: "a:v1", Program: []byte("#!/bin/sh\n")}, "not a Linux program"},
		"other CPU":    {Image{Name: "a:v1", Program: program(t, elf.EM_SPARCV9, false)}, "EM_SPARCV9"},
		"a bad name":   {Image{Name: "A b", Program: static}, `--tag "A b"`},
		"a digest tag": {Image{Name: "a@sha256:" + strings.Repeat("0", 64), Program: static}, "--tag"},
	} {
		_, err := tc.image.Write(io.Discard)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
