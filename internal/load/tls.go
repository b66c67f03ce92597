package load

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/phrase"
)

// mostPEM bounds a file of certificates, in bytes; those of all systems have some
// hundred KiB.
const mostPEM = 16 << 20

// TLS is how servers are verified and what they are shown. Files are in PEM.
type TLS struct {
	CACert     string // file of those who are trusted, in place of the system's
	Cert, Key  string // files of a certificate of ours
	Insecure   bool   // nothing is verified
	ServerName string // in place of the URL's host
}

// Config is nil where the scheme has no TLS.
func (t TLS) Config(scheme string) (*tls.Config, error) {
	if scheme != SchemeHTTPS {
		return nil, t.unused(scheme)
	}
	c := &tls.Config{InsecureSkipVerify: t.Insecure, ServerName: t.ServerName}
	if t.CACert != "" {
		pem, err := folder.ReadRegular(t.CACert, mostPEM)
		if err != nil {
			return nil, invalid(FieldCACert, t.CACert, "%w", cause(err))
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, invalid(FieldCACert, t.CACert, "no certificate in it; it must be in PEM")
		}
	}
	switch {
	case t.Cert == "" && t.Key == "":
		return c, nil
	case t.Key == "":
		return nil, invalid(FieldCert, t.Cert, "add the file of its private key")
	case t.Cert == "":
		return nil, invalid(FieldKey, t.Key, "add the file of its certificate")
	}
	cert, err := folder.ReadRegular(t.Cert, mostPEM)
	if err != nil {
		return nil, invalid(FieldCert, t.Cert, "%w", cause(err))
	}
	key, err := folder.ReadRegular(t.Key, mostPEM)
	if err != nil {
		return nil, invalid(FieldKey, t.Key, "%w", cause(err))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, invalid(FieldCert, t.Cert, "%w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// unused refuses what only TLS has use for: who gives it believes to have it.
func (t TLS) unused(scheme string) error {
	for _, f := range []struct {
		field Field
		value string
	}{
		{FieldCACert, t.CACert}, {FieldCert, t.Cert}, {FieldKey, t.Key}, {FieldServerName, t.ServerName}, {FieldInsecure, phrase.If(t.Insecure, "true", "")},
	} {
		if f.value != "" {
			return invalid(f.field, f.value, "it applies only to https://, but the URL is %s://", scheme)
		}
	}
	return nil
}
