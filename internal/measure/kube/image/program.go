package image

import (
	"debug/elf"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

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
		return v1.Platform{}, fmt.Errorf("it is not a Linux program: %w; name one with --binary, built with GOOS=linux CGO_ENABLED=0", err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return v1.Platform{}, fmt.Errorf("it is linked against the C library of this system, which the image lacks: install procfit by CGO_ENABLED=0 go install ./cmd/procfit, or name a program that is built like that with --binary")
		}
	}
	at, ok := architectures[f.Machine]
	if !ok || at.Architecture == "ppc64le" && f.ByteOrder.String() != "LittleEndian" {
		return v1.Platform{}, fmt.Errorf("it is for %v, which no image of Linux names", f.Machine)
	}
	return at, nil
}
