package cluster

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"embed"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

//go:embed start.sh testdata/config
var files embed.FS

// PauseImage holds a pod's namespaces open.
const PauseImage = "procfit.test/pause:1"

type settings struct {
	Dir, Server, Token, Cgroup string
	Node, Port                 int
	PauseImage                 string
	V1                         bool
}

func (c *Cluster) configure() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	if err := c.write("account.key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})); err != nil {
		return err
	}
	script, err := files.ReadFile("start.sh")
	if err != nil {
		return err
	}
	if err := c.write("start.sh", script); err != nil {
		return err
	}
	s := settings{Dir: c.Dir, Server: c.Server, Token: rand.Text(), Cgroup: c.place.cgroup(), PauseImage: PauseImage, V1: len(hierarchies()) > 1}
	for _, name := range []string{"kubeconfig", "tokens.csv"} {
		if err := c.fill(name, name, s); err != nil {
			return err
		}
	}
	for n := range c.nodes {
		s.Node, s.Port = n+1, 10250+n
		for _, name := range []string{"containerd.toml", "kubelet.yaml", "pods.conflist"} {
			to := filepath.Join(fmt.Sprintf("node%d", s.Node), name)
			if name == "pods.conflist" {
				to = filepath.Join(filepath.Dir(to), "network", name)
			}
			if err := c.fill(name, to, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) fill(name, to string, s settings) error {
	t, err := template.ParseFS(files, "testdata/config/"+name)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return err
	}
	return c.write(to, b.Bytes())
}

func (c *Cluster) write(name string, b []byte) error {
	file := filepath.Join(c.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o600)
}
