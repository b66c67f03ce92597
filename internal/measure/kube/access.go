package kube

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/procfit/procfit/internal/measure/kube/agent"
)

// Access is which cluster, and as whom, as kubectl takes it. What is empty is what the
// kubeconfig says, and without one what a pod is given.
type Access struct {
	Kubeconfig, Context, Namespace string
}

const (
	callTimeout = 30 * time.Second
	perSecond   = 50 // calls, which client-go else holds to 5
)

// cluster is an API server and a namespace in it.
type cluster struct {
	api       *api
	config    *rest.Config
	namespace string
	warnings  *warnings
	patience  time.Duration // with a server that does not answer
}

func (a Access) open() (*cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: a.Context}
	overrides.Context.Namespace = a.Namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no access to a cluster: %w; name a file with --kubeconfig and one of its contexts with --context", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("no access to a cluster: %w", err)
	}
	klog.SetLogger(logr.Discard()) // client-go writes to the terminal else, amid our progress
	c := &cluster{config: config, namespace: namespace, warnings: &warnings{}, patience: agent.Patience}
	config.QPS, config.Burst, config.Timeout = perSecond, 2*perSecond, callTimeout
	config.ContentType = "application/json" // which every server and every proxy between knows
	config.UserAgent, config.WarningHandler = "procfit", c.warnings
	c.api, err = newAPI(config)
	return c, err
}

// warnings are those that the API server sent along, each once.
type warnings struct {
	mu   sync.Mutex
	list []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, have := range w.list {
		if have == text {
			return
		}
	}
	if code == 299 && text != "" { // RFC 7234: a persistent warning, the only one that API servers send
		w.list = append(w.list, text)
	}
}

const callAgain = 500 * time.Millisecond

// call calls the API until it answers, or has not for too long.
func (c *cluster) call(ctx context.Context, f func(context.Context) error) error {
	for until := time.Now().Add(c.patience); ; {
		err := f(ctx)
		if err == nil || !passing(err) || ctx.Err() != nil {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("the API server was out of reach for %s: %w", c.patience, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(callAgain):
		}
	}
}

// passing tells an error that may be gone when asked again.
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
