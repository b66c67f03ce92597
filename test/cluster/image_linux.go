package cluster

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Load makes an image of a static program, which is its entry point and all that is in
// it, and imports it on every node.
func (c *Cluster) Load(ctx context.Context, program, image string) error {
	archive, err := pack(program, image)
	if err != nil {
		return err
	}
	return c.LoadArchive(ctx, archive)
}

// LoadArchive imports an image archive, of docker's or OCI's form, on every node.
func (c *Cluster) LoadArchive(ctx context.Context, archive []byte) error {
	for n := range c.nodes {
		socket := filepath.Join(c.Dir, fmt.Sprintf("node%d", n+1), "containerd.sock")
		for { // containerd may just be starting
			_, err := run(ctx, bytes.NewReader(archive), "ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", "-")
			if err == nil {
				break
			}
			if _, there := os.Stat(socket); there == nil {
				return err
			}
			if paused := c.pause(ctx); paused != nil {
				return fmt.Errorf("%w: %w", paused, err)
			}
		}
	}
	return nil
}

// pack is an image archive in docker's form, with one layer.
func pack(program, image string) ([]byte, error) {
	b, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var layer, archive bytes.Buffer
	if err := archiveOf(&layer, []tarFile{{"app", 0o755, b}}); err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{"Entrypoint": []string{"/app"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))}},
	})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%x.json", sha256.Sum256(config))
	manifest, err := json.Marshal([]map[string]any{{"Config": name, "RepoTags": []string{image}, "Layers": []string{"layer.tar"}}})
	if err != nil {
		return nil, err
	}
	err = archiveOf(&archive, []tarFile{{name, 0o644, config}, {"layer.tar", 0o644, layer.Bytes()}, {"manifest.json", 0o644, manifest}})
	return archive.Bytes(), err
}

type tarFile struct {
	name string
	mode int64
	data []byte
}

func archiveOf(w io.Writer, list []tarFile) error {
	t := tar.NewWriter(w)
	for _, f := range list {
		if err := t.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data))}); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	return t.Close()
}
