package cluster

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/procfit/procfit/internal/host/cluster"
)

// Access says which cluster, and as whom, as kubectl's flags do.
type Access = cluster.Access

// use is what one reader may use: as much as a busy controller.
var use = cluster.Use{Agent: "procfit check", PerSecond: 200, Protobuf: true}

// Client reads a cluster.
type Client struct{ *cluster.Client }

// Connect makes a client; it does not talk to the cluster yet.
func Connect(a Access) (*Client, error) {
	c, err := cluster.Connect(a, use)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// list asks for a page; a namespace of "" is all.
func (c *Client) list(ctx context.Context, namespace, resource string, o meta.ListOptions, into runtime.Object) error {
	return c.Explain(c.Core.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, c.Parameters).Do(ctx).Into(into))
}

// pageSize is how many objects are asked for at once. A page of pods takes some 10 MB
// here while it is read.
const pageSize = 250

// pages reads a list to its end. A list that lasts so long that the server forgets its
// place is begun again, with restart.
func pages(ctx context.Context, restart func(), page func(context.Context, meta.ListOptions) (next string, err error)) error {
	o := meta.ListOptions{Limit: pageSize}
	for again := 0; ; {
		next, err := page(ctx, o)
		switch {
		case apierrors.IsResourceExpired(err) && o.Continue != "" && again < 2:
			again++
			o.Continue = ""
			restart()
			continue
		case err != nil:
			return err
		case next == "":
			return nil
		}
		o.Continue = next
	}
}

// explain is what to do about an error of the API server.
func explain(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s: not allowed: %w; the role procfit-check in deploy/kubernetes/check.yaml has the permissions", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
