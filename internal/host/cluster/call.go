package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	//lint:ignore SA1019 The port forwarding of client-go has these types.
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/procfit/procfit/internal/host/wait"
)

const callAgain = 500 * time.Millisecond

// Call repeats a call until the API server answers it, or until the client's patience
// ends. A server that has never answered is not waited for: its address or the credentials
// are wrong, or its cluster does not run.
func (c *Client) Call(ctx context.Context, f func(context.Context) error) error {
	late := After(c.patience)
	return Until(ctx, callAgain, func(ctx context.Context) (bool, error) {
		err := f(ctx)
		if err == nil || apierrors.ReasonForError(err) != "" {
			c.reached.Store(true)
		}
		switch {
		case err == nil || !passing(err) || ctx.Err() != nil || !c.reached.Load():
			return true, c.Explain(err)
		case late():
			return false, fmt.Errorf("the API server was out of reach for %s: %w", c.patience, c.Explain(err))
		}
		return false, nil
	})
}

// Until asks at once and then again after each pause, until the answer is done or an
// error, or ctx ends.
func Until(ctx context.Context, pause time.Duration, ask func(context.Context) (done bool, err error)) error {
	for {
		if done, err := ask(ctx); done || err != nil {
			return err
		}
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
	}
}

// After returns a function that reports whether the patience has ended, which begins now.
func After(patience time.Duration) (late func() bool) {
	until := time.Now().Add(patience)
	return func() bool { return time.Now().After(until) }
}

// passing reports whether the same call may succeed later.
func passing(err error) bool {
	var network net.Error
	switch {
	case apierrors.IsServerTimeout(err), apierrors.IsTimeout(err), apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err), apierrors.IsInternalError(err):
		return true
	case apierrors.ReasonForError(err) != "":
		return false // an answer
	}
	return errors.As(err, &network) || errors.Is(err, net.ErrClosed)
}

// Right is a permission, in the words of a role.
type Right struct {
	Verb, Group, Resource string // Resource may have a subresource: pods/log
	Cluster               bool   // the resource is not in a namespace
}

func (r Right) String() string {
	s := r.Verb + " " + r.Resource
	if r.Group != "" {
		s += "." + r.Group
	}
	return s
}

// Missing asks the API server which of the permissions the user lacks.
func (c *Client) Missing(ctx context.Context, rights []Right) ([]Right, error) {
	lacks := make([]bool, len(rights))
	errs := make([]error, len(rights))
	var all sync.WaitGroup
	for i, r := range rights {
		all.Go(func() {
			errs[i] = c.Call(ctx, func(ctx context.Context) error {
				answer, err := c.Core.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").
					SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").Body(c.review(r)).DoRaw(ctx)
				if err != nil {
					return err
				}
				var review struct{ Status struct{ Allowed bool } }
				err = json.Unmarshal(answer, &review)
				lacks[i] = !review.Status.Allowed
				return err
			})
		})
	}
	all.Wait()
	var list []Right
	for i, r := range rights {
		if errs[i] != nil {
			return nil, fmt.Errorf("cannot ask for the permissions in namespace %s: %w", c.Namespace, errs[i])
		}
		if lacks[i] {
			list = append(list, r)
		}
	}
	return list, nil
}

// review is a SelfSubjectAccessReview of authorization.k8s.io/v1, whose Go type would add a
// tenth of a megabyte to procfit.
func (c *Client) review(r Right) []byte {
	resource, sub, _ := strings.Cut(r.Resource, "/")
	namespace := c.Namespace
	if r.Cluster {
		namespace = ""
	}
	attributes := map[string]string{"namespace": namespace, "verb": r.Verb, "group": r.Group, "resource": resource, "subresource": sub}
	maps.DeleteFunc(attributes, func(_, value string) bool { return value == "" })
	b, _ := json.Marshal(map[string]any{ // of texts
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{"resourceAttributes": attributes},
	})
	return b
}

// PortForward returns a dialer to the ports of a pod, through the API server: over a
// websocket, or over SPDY where the server has no websockets.
func (c *Client) PortForward(pod string) (httpstream.Dialer, error) {
	to := c.Core.Post().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("portforward").URL()
	config := *c.config
	config.Timeout = 0 // a timeout would end the whole connection
	web, err := portforward.NewSPDYOverWebsocketDialer(to, &config)
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(&config)
	if err != nil {
		return nil, err
	}
	old := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, to)
	return portforward.NewFallbackDialer(web, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
