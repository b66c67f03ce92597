package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Access says which cluster, and as whom, as kubectl's flags do.
type Access struct {
	Kubeconfig string // "": KUBECONFIG, the user's own, or that of the pod that this runs in
	Context    string // "": the current one
}

// Requests a second and at once: one reader may use what a busy controller may.
const (
	requestRate  = 200
	requestBurst = 400
)

// protobuf is a third of JSON, and costs a tenth to read.
const protobuf = "application/vnd.kubernetes.protobuf"

// Client reads a cluster. It knows three groups of the API: the usual clientset knows
// all, which makes a program larger by 40 MB, and slower to start.
type Client struct {
	core, apps, batch rest.Interface
	parameters        runtime.ParameterCodec
}

// Connect makes a client; it does not talk to the cluster yet.
func Connect(a Access) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: a.Context}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster to check: %w; name one with --kubeconfig and --context", err)
	}
	return newClient(config)
}

func newClient(config *rest.Config) (*Client, error) {
	config.AcceptContentTypes, config.ContentType = protobuf+",application/json", protobuf
	config.QPS, config.Burst = requestRate, requestBurst
	config.UserAgent, config.Timeout = "procfit check", answerLimit
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{core.AddToScheme, apps.AddToScheme, batch.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c := &Client{parameters: runtime.NewParameterCodec(scheme)}
	for _, group := range []struct {
		to      *rest.Interface
		version schema.GroupVersion
		path    string
	}{{&c.core, core.SchemeGroupVersion, "/api"}, {&c.apps, apps.SchemeGroupVersion, "/apis"}, {&c.batch, batch.SchemeGroupVersion, "/apis"}} {
		of := rest.CopyConfig(config)
		of.GroupVersion, of.APIPath = &group.version, group.path
		of.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
		made, err := rest.RESTClientFor(of)
		if err != nil {
			return nil, fmt.Errorf("no cluster to check: %w", err)
		}
		*group.to = made
	}
	return c, nil
}

// list asks for a page; a namespace of "" is all.
func (c *Client) list(ctx context.Context, namespace, resource string, o meta.ListOptions, into runtime.Object) error {
	return c.core.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource).VersionedParams(&o, c.parameters).Do(ctx).Into(into)
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
		return fmt.Errorf("%s: not allowed: %w; the role procfit-check of deploy/kubernetes/check.yaml grants what is needed", what, err)
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s: the cluster does not know this user: %w", what, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: no answer within %s: %w", what, answerLimit, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// answerLimit is for one request.
const answerLimit = 30 * time.Second
