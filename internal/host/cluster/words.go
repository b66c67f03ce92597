package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clientapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/procfit/procfit/internal/show/phrase"
)

// unreachedError is that the API server gives no answer that can be used, and why.
type unreachedError struct {
	text string
	err  error
}

func (e *unreachedError) Error() string { return e.text }
func (e *unreachedError) Unwrap() error { return e.err }

// Explain is an error of a call in the user's words, with what to type: of an address, a
// certificate or a credential. Other answers of the API server keep its words.
func (c *Client) Explain(err error) error {
	var web *url.Error
	said := (*unreachedError)(nil)
	switch {
	case err == nil, errors.As(err, &said), errors.Is(err, context.Canceled):
		return err
	case apierrors.IsUnauthorized(err):
		return &unreachedError{fmt.Sprintf("the API server at %s does not accept the credentials of the kubeconfig: they may have expired; log in to the cluster again, or name another --context", c.config.Host), err}
	case !errors.As(err, &web):
		return err
	}
	return &unreachedError{c.unanswered(web.Err), err}
}

func (c *Client) unanswered(err error) string {
	const other = "does the cluster run, and does --context name it?"
	const credentials = "getting credentials: "
	var dns *net.DNSError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var network net.Error
	at := "the API server at " + c.config.Host
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return at + " refuses connections: " + other
	case errors.As(err, &dns):
		return fmt.Sprintf("%s cannot be found: its host name %q is not known here; is the network or the VPN up, and does --context name the cluster?", at, dns.Name)
	case errors.As(err, &authority):
		return at + " has a certificate that no CA certificate of the kubeconfig has signed; does --context name the cluster? Its certificate-authority may be out of date"
	case errors.As(err, &name):
		return at + " has a certificate for another host; correct server: in the kubeconfig"
	case errors.As(err, &invalid):
		return at + " has a certificate that is not valid now; renew it, or correct the clock of this machine"
	case errors.As(err, &record), strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return at + " does not speak TLS; correct server: in the kubeconfig to http://"
	case strings.Contains(err.Error(), credentials):
		_, why, _ := strings.Cut(phrase.FirstLine(err.Error()), credentials)
		return "the kubeconfig gets its credentials from a command, which fails: " + strings.TrimPrefix(why, "exec: ") + "; log in to the cluster again, or name another --context"
	case errors.As(err, &network) && network.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%s does not answer within %s: %s", at, timeout, other)
	}
	return fmt.Sprintf("%s cannot be reached: %s; %s", at, phrase.Plain(err), other)
}

// CheckNamespace is an error where the namespace does not exist. Whoever may not ask gets
// none.
func (c *Client) CheckNamespace(ctx context.Context, name string) error {
	var of corev1.Namespace
	err := c.Core.Get().Resource("namespaces").Name(name).Do(ctx).Into(&of)
	if !apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("the namespace %q does not exist in the cluster; to list them: kubectl get namespaces", name)
}

func configError(why string) error { return fmt.Errorf("cannot reach a cluster: %s", why) }

// choose looks at which context a kubeconfig names; nil: it can be used, or there is none.
func choose(config *clientapi.Config, looked []string, asked string) error {
	names := slices.Sorted(maps.Keys(config.Contexts))
	file := phrase.And(looked)
	fix := "choose one of its contexts with --context: " + phrase.Or(names)
	if len(names) == 0 {
		fix = "it has no context: name another file with --kubeconfig FILE"
	}
	current := cmp.Or(asked, config.CurrentContext)
	of := config.Contexts[current]
	switch {
	case len(names) == 0 && len(config.Clusters) == 0 && asked != "":
		return noConfig(looked)
	case len(names) == 0 && len(config.Clusters) == 0:
		return nil // the library looks whether this is a pod
	case current == "":
		return configError(fmt.Sprintf("%s has no current context; %s", file, fix))
	case of == nil && asked == "":
		return configError(fmt.Sprintf("the current context %q is not in %s; %s", current, file, fix))
	case of == nil:
		return configError(fmt.Sprintf("--context %q is not in %s; %s", current, file, fix))
	case config.Clusters[of.Cluster] == nil:
		return configError(fmt.Sprintf("the context %q names the cluster %q, which is not in %s; %s", current, of.Cluster, file, fix))
	case of.AuthInfo != "" && config.AuthInfos[of.AuthInfo] == nil:
		return configError(fmt.Sprintf("the context %q names the user %q, which is not in %s; %s", current, of.AuthInfo, file, fix))
	}
	return nil
}
