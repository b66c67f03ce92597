package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/rpc"
)

// protocol is the flags of load and sweep that say what is spoken with the server.
type protocol struct {
	streams  int
	engine   string
	tls      load.TLS
	grpc     string
	data     string
	proto    []string
	protoset string
}

func (p *protocol) flags(f *pflag.FlagSet) {
	f.IntVar(&p.streams, "streams", 1, "requests at a time on each connection of HTTP/2")
	f.StringVar(&p.grpc, "grpc", "", "call this `package.Service/Method` instead, over https:// or h2c://; the server's reflection tells its types")
	f.StringVar(&p.data, "data", "", "the call's message in `JSON`, or @FILE; @- is standard input (default {})")
	f.StringArrayVar(&p.proto, "proto", nil, "`file` with the call's types, where the server has no reflection; may be repeated")
	f.StringVar(&p.protoset, "protoset", "", "`file` with the call's types, as protoc --descriptor_set_out --include_imports writes it")
	f.StringVar(&p.tls.CACert, "cacert", "", "`file` of the authorities that are trusted, in PEM, in place of the system's")
	f.StringVar(&p.tls.Cert, "cert", "", "`file` of a certificate to show, in PEM")
	f.StringVar(&p.tls.Key, "key", "", "`file` of its private key")
	f.BoolVar(&p.tls.Insecure, "insecure", false, "do not verify the server's certificate")
	f.StringVar(&p.tls.ServerName, "server-name", "", "`name` that the server's certificate must have, in place of the URL's host")
	f.StringVar(&p.engine, "engine", "", "`raw` (plain HTTP/1.1, Linux) or portable (all that is spoken); default the first that can")
}

// call is the call of gRPC, if there is one.
func (p *protocol) call(std stdio) (*load.GRPC, error) {
	if p.grpc == "" {
		for flag, given := range map[string]bool{"data": p.data != "", "proto": len(p.proto) > 0, "protoset": p.protoset != ""} {
			if given {
				return nil, usageError("--%s is for a call of gRPC: add --grpc package.Service/Method", flag)
			}
		}
		return nil, nil
	}
	g := &load.GRPC{Calls: rpc.Calls{}, Method: p.grpc, Data: []byte(p.data), Proto: p.proto, Protoset: p.protoset}
	if file, ok := strings.CutPrefix(p.data, "@"); ok {
		var err error
		if g.Data, err = readInput("data", file, mostBody, std); err != nil {
			return nil, err
		}
	}
	return g, nil
}
