// Package image makes a container image of one static program, for one platform or
// several: an archive that can be pushed to a registry or imported into a node, made
// without Docker. The same programs, name and version give the same bytes, whenever and
// wherever it is made.
//
// The archive is an OCI image layout (opencontainers/image-spec, image-layout.md). For
// one platform it has a manifest.json too, which is what older "docker load" and crane
// read: that form knows no others. For several it has one index of their images. The one
// layer of an image holds the program alone, so that nothing but the program can be run
// in it: no shell, no C library, no certificates. A program that is linked against a
// C library is refused, since it could not start there.
package image

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is who the program runs as where a pod says nothing else: offering load
// takes no rights.
const nobody = "65534:65534"

// Image is what an archive is made of.
type Image struct {
	Name     string   // reference with a tag, as in registry.example/procfit:v1
	Programs [][]byte // the same program, for one platform each
	Path     string   // of the program in the image, as in /procfit
	Version  string
}

// Made is what an archive holds.
type Made struct {
	Name      string
	Digest    string   // of the manifest or the index, as registries and nodes name it
	Platforms []string // as in linux/amd64
}

// CheckName reports what is wrong with the name of an image.
func CheckName(text string) error {
	_, err := parseName(text)
	return err
}

func parseName(text string) (name.Tag, error) {
	tag, err := name.NewTag(text, name.WithDefaultRegistry(""), name.WithDefaultTag(""))
	switch bare, colon := strings.CutSuffix(text, ":"); {
	case bare != "" && (colon || err == nil && tag.TagStr() == ""): // a node that imports it would look for another name
		err = fmt.Errorf("--tag %q has no tag; write one behind the name, as in --tag %s:v1", text, bare)
	case err != nil:
		err = fmt.Errorf("--tag %q: %w; an image is named as in registry.example/tools/procfit:v1", text, err)
	}
	return tag, err
}

// Write writes the archive.
func (i Image) Write(w io.Writer) (Made, error) {
	tag, err := parseName(i.Name)
	if err != nil {
		return Made{}, err
	}
	made := Made{Name: tag.String()}
	var images []v1.Image
	for _, program := range i.Programs {
		at, err := platform(bytes.NewReader(program))
		if err != nil {
			return Made{}, err
		}
		if slices.Contains(made.Platforms, at.String()) {
			return Made{}, fmt.Errorf("two programs are for %v: name one for each platform", at)
		}
		made.Platforms = append(made.Platforms, at.String())
		img, err := i.build(program, at)
		if err != nil {
			return Made{}, err
		}
		images = append(images, img)
	}
	made.Digest, err = archive(w, images, tag.String())
	return made, err
}

// build is the image with its one layer. Its only time is the epoch.
func (i Image) build(program []byte, at v1.Platform) (v1.Image, error) {
	layer, err := i.layer(program)
	if err != nil {
		return nil, err
	}
	img := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	img = mutate.ConfigMediaType(img, types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, MediaType: types.OCILayer})
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = at.OS, at.Architecture, at.Variant
	config.Created, config.History = v1.Time{Time: time.Unix(0, 0).UTC()}, nil
	config.Config = v1.Config{
		Entrypoint: []string{i.Path}, User: nobody, WorkingDir: "/",
		Labels: map[string]string{"org.opencontainers.image.title": "procfit", "org.opencontainers.image.version": i.Version},
	}
	return mutate.ConfigFile(img, config)
}

// layer is a file system with the program alone.
func (i Image) layer(program []byte) (v1.Layer, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	h := &tar.Header{Name: i.Path[1:], Mode: 0o755, Size: int64(len(program)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
	if err := t.WriteHeader(h); err != nil {
		return nil, err
	}
	if _, err := t.Write(program); err != nil {
		return nil, err
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
}

// architectures are those that Linux images have, by the machine of the ELF header.
var architectures = map[elf.Machine]v1.Platform{
	elf.EM_X86_64:  {OS: "linux", Architecture: "amd64"},
	elf.EM_AARCH64: {OS: "linux", Architecture: "arm64"},
	elf.EM_386:     {OS: "linux", Architecture: "386"},
	elf.EM_ARM:     {OS: "linux", Architecture: "arm", Variant: "v7"},
	elf.EM_PPC64:   {OS: "linux", Architecture: "ppc64le"},
	elf.EM_S390:    {OS: "linux", Architecture: "s390x"},
	elf.EM_RISCV:   {OS: "linux", Architecture: "riscv64"},
}

// platform is where a program runs. One that could not start in an image with
// nothing else in it is refused.
func platform(r io.ReaderAt) (v1.Platform, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return v1.Platform{}, errors.New("it is not a Linux program; with --binary, name a program that was built with GOOS=linux CGO_ENABLED=0")
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return v1.Platform{}, fmt.Errorf("it is linked against the C library of this system, which the image does not have: install procfit with CGO_ENABLED=0 go install ./cmd/procfit, or name a program built that way with --binary")
		}
	}
	at, ok := architectures[f.Machine]
	if !ok || at.Architecture == "ppc64le" && f.ByteOrder.String() != "LittleEndian" {
		return v1.Platform{}, fmt.Errorf("it is for %v, which is not an architecture of Linux images", f.Machine)
	}
	return at, nil
}
