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
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
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
	var images []built
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

// built is an image: its manifest, and what that names.
type built struct {
	manifest, config, layer []byte
	digest                  v1.Hash // of the manifest
	named                   v1.Manifest
	at                      v1.Platform
}

// build is the image with its one layer. Its only time is the epoch.
func (i Image) build(program []byte, at v1.Platform) (b built, err error) {
	b.at = at
	layer, diff, err := i.pack(program)
	if err != nil {
		return b, err
	}
	b.layer = layer
	config := v1.ConfigFile{
		OS: at.OS, Architecture: at.Architecture, Variant: at.Variant,
		Created: v1.Time{Time: time.Unix(0, 0).UTC()},
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{diff}},
		Config: v1.Config{
			Entrypoint: []string{i.Path}, User: nobody, WorkingDir: "/",
			Labels: map[string]string{"org.opencontainers.image.title": "procfit", "org.opencontainers.image.version": i.Version},
		},
	}
	if b.config, err = json.Marshal(config); err != nil {
		return b, err
	}
	b.named = v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Config: v1.Descriptor{MediaType: types.OCIConfigJSON, Size: int64(len(b.config)), Digest: digestOf(b.config)},
		Layers: []v1.Descriptor{{MediaType: types.OCILayer, Size: int64(len(b.layer)), Digest: digestOf(b.layer)}},
	}
	b.manifest, err = json.Marshal(b.named)
	b.digest = digestOf(b.manifest)
	return b, err
}

func digestOf(b []byte) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", sha256.Sum256(b))}
}

// pack makes a compressed file system with the program alone, and the digest of what it
// unpacks to.
func (i Image) pack(program []byte) (layer []byte, diff v1.Hash, err error) {
	var plain, packed bytes.Buffer
	t := tar.NewWriter(&plain)
	h := &tar.Header{Name: i.Path[1:], Mode: 0o755, Size: int64(len(program)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
	if err := t.WriteHeader(h); err != nil {
		return nil, diff, err
	}
	if _, err := t.Write(program); err != nil {
		return nil, diff, err
	}
	if err := t.Close(); err != nil {
		return nil, diff, err
	}
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, diff, err
	}
	if _, err := z.Write(plain.Bytes()); err != nil {
		return nil, diff, err
	}
	if err := z.Close(); err != nil { // writes the end
		return nil, diff, err
	}
	return packed.Bytes(), digestOf(plain.Bytes()), nil
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
