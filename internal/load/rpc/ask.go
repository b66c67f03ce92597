package rpc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Codes of gRPC that are looked at (grpc.io/docs/guides/status-codes).
const (
	codeUnknown          = 2
	codeNotFound         = 5
	codePermissionDenied = 7
	codeUnimplemented    = 12
	codeInternal         = 13
	codeUnauthenticated  = 16
)

type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string {
	return cmp.Or(e.message, "the server answered with gRPC status "+strconv.Itoa(e.code))
}

func hasCode(err error, codes ...int) bool {
	s, ok := errors.AsType[*statusError](err)
	return ok && slices.Contains(codes, s.code)
}

// peer is a server that is asked over HTTP/2, a question at a time.
type peer struct {
	transport *http.Transport
	scheme    string
	authority string
	metadata  map[string]string
}

// newPeer asks over connections that dial makes; without TLS its configuration is nil.
func newPeer(secure *tls.Config, authority string, dial func(context.Context) (net.Conn, error)) *peer {
	p := &peer{scheme: "http", authority: authority, transport: &http.Transport{
		Protocols:   new(http.Protocols),
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
	}}
	p.transport.Protocols.SetUnencryptedHTTP2(true)
	if secure != nil { // the authority is then the name in the certificate
		p.scheme, p.authority = "https", cmp.Or(secure.ServerName, authority)
		p.transport.TLSClientConfig = secure.Clone()
		p.transport.Protocols.SetUnencryptedHTTP2(false)
		p.transport.Protocols.SetHTTP2(true)
	}
	return p
}

func (p *peer) call(ctx context.Context, method string, messages ...[]byte) ([][]byte, error) {
	body := bytes.Join(phrase.Each(messages, framed), nil)
	r := (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Scheme: p.scheme, Host: p.authority, Path: method}, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
	r.Header.Set("User-Agent", "procfit")
	for name, value := range p.metadata {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Te", "trailers")
	r.Header.Set("Accept-Encoding", "identity") // otherwise the transport adds gzip
	answer, err := p.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.ProtoMajor != 2 { // over TLS the transport takes what the server offers
		return nil, fmt.Errorf("the server speaks %s, not HTTP/2", answer.Proto)
	}
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/grpc") {
		return nil, &statusError{codeOf(answer.StatusCode), fmt.Sprintf("the server answered %s with the content-type %q, not as gRPC", answer.Status, answer.Header.Get("Content-Type"))}
	}
	got, err := io.ReadAll(io.LimitReader(answer.Body, mostTypes+1))
	switch {
	case err != nil:
		return nil, err
	case len(got) > mostTypes:
		return nil, fmt.Errorf("the answer is longer than %d MB", mostTypes>>20)
	}
	if err := statusOf(answer); err != nil {
		return nil, err
	}
	return unframed(got)
}

// codeOf is the code of gRPC for a status of HTTP, of those that are looked at
// (http-grpc-status-mapping.md of gRPC).
func codeOf(status int) int {
	code := map[int]int{
		http.StatusUnauthorized: codeUnauthenticated, http.StatusForbidden: codePermissionDenied, http.StatusNotFound: codeUnimplemented,
	}[status]
	return cmp.Or(code, codeUnknown)
}

// statusOf is the error of a call whose answer was read to its end. An answer without
// messages has its status in the head.
func statusOf(answer *http.Response) error {
	from := answer.Trailer
	if from.Get("Grpc-Status") == "" {
		from = answer.Header
	}
	text := from.Get("Grpc-Status")
	code, err := strconv.ParseUint(text, 10, 31)
	switch {
	case err != nil:
		return &statusError{codeInternal, fmt.Sprintf("the server ended its answer with gRPC status %q", text)}
	case code == 0:
		return nil
	}
	message := from.Get("Grpc-Message")
	if plain, err := url.PathUnescape(message); err == nil {
		message = plain
	}
	return &statusError{int(code), message}
}

func unframed(body []byte) (messages [][]byte, err error) {
	const head = 5
	for len(body) > 0 {
		if len(body) < head || body[0] != 0 || uint64(len(body)-head) < uint64(binary.BigEndian.Uint32(body[1:])) {
			return nil, errors.New("the answer is incomplete or compressed")
		}
		end := head + int(binary.BigEndian.Uint32(body[1:]))
		messages, body = append(messages, body[head:end]), body[end:]
	}
	return messages, nil
}

// Reflect implements load.Calls: it asks the server for the files of a service. The
// context bounds how long a server may make us ask.
func (Calls) Reflect(ctx context.Context, s load.CallServer, service string) (load.CallTypes, error) {
	p := newPeer(s.TLS, s.Authority, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.Address) // no proxy: the load goes to the server itself
	})
	p.metadata = s.Metadata
	defer p.transport.CloseIdleConnections()
	var set *descriptorpb.FileDescriptorSet
	var err error
	for _, version := range []string{"v1", "v1alpha"} {
		set, err = p.files(ctx, "/grpc.reflection."+version+".ServerReflection/ServerReflectionInfo", service)
		if !hasCode(err, codeUnimplemented) {
			break
		}
	}
	switch {
	case hasCode(err, codeUnimplemented):
		return nil, errors.New("the server has no reflection")
	case hasCode(err, codeNotFound):
		return nil, fmt.Errorf("the server does not know this service (%w)", err)
	case err != nil:
		return nil, fmt.Errorf("cannot read the types from the server: %w", err)
	}
	types, err := link(set)
	if err != nil {
		return nil, fmt.Errorf("cannot use the types of the server: %w", err)
	}
	return types, nil
}

// mostFiles bounds how many files a server may describe: each may import another one.
const mostFiles = 10_000

// Numbers of fields of ServerReflectionRequest, ServerReflectionResponse and of what the
// latter has (reflection.proto of gRPC; alike in both versions).
const (
	askFile         = 3
	askSymbol       = 4
	answerFiles     = 4
	answerFilesFile = 1
	answerError     = 7
	answerErrorCode = 1
	answerErrorText = 2
)

// files are the one that declares a service and those that it imports: the server may send
// them together, or each when it is asked for.
func (p *peer) files(ctx context.Context, method, service string) (*descriptorpb.FileDescriptorSet, error) {
	set := new(descriptorpb.FileDescriptorSet)
	had, asked := map[string]bool{}, map[string]bool{}
	questions := [][]byte{question(askSymbol, service)}
	for done := 0; len(questions) > 0; {
		answers, err := p.call(ctx, method, questions...)
		if err != nil {
			return nil, err
		}
		for _, answer := range answers {
			files, err := readFiles(answer)
			if err != nil {
				return nil, err
			}
			for _, file := range files {
				if name := file.GetName(); !had[name] {
					set.File, had[name] = append(set.File, file), true
				}
			}
		}
		if len(set.File) > mostFiles {
			return nil, fmt.Errorf("the server describes more than %d files", mostFiles)
		}
		questions = nil
		for ; done < len(set.File); done++ {
			for _, name := range set.File[done].Dependency {
				if !had[name] && !asked[name] {
					questions, asked[name] = append(questions, question(askFile, name)), true
				}
			}
		}
	}
	return set, nil
}

func question(field protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, field, protowire.BytesType), text)
}

func readFiles(answer []byte) (files []*descriptorpb.FileDescriptorProto, err error) {
	of, err := fieldsOf(answer)
	if err != nil {
		return nil, err
	}
	for _, f := range of {
		if f.number == answerError {
			return nil, refusal(f.bytes)
		}
		if f.number != answerFiles {
			continue
		}
		list, err := fieldsOf(f.bytes)
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			file := new(descriptorpb.FileDescriptorProto)
			if one.number != answerFilesFile {
				continue
			}
			if err := proto.Unmarshal(one.bytes, file); err != nil {
				return nil, fmt.Errorf("not a file descriptor: %w", err)
			}
			files = append(files, file)
		}
	}
	return files, nil
}

func refusal(message []byte) error {
	of, err := fieldsOf(message)
	if err != nil {
		return err
	}
	e := &statusError{code: codeUnknown}
	for _, f := range of {
		switch f.number {
		case answerErrorCode:
			e.code = int(int32(f.value))
		case answerErrorText:
			e.message = string(f.bytes)
		}
	}
	return e
}

// field is one of a message: value of a number, bytes of anything else that has a length.
type field struct {
	number protowire.Number
	value  uint64
	bytes  []byte
}

func fieldsOf(message []byte) (fields []field, err error) {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		fields, message = append(fields, f), message[n:]
	}
	return fields, nil
}

// Health asks a server's gRPC health service whether it serves. It is a ready.Health.
type Health struct{}

// healthStatus is the field of HealthCheckResponse (health.proto of gRPC).
const healthStatus = 1

// Ask implements ready.Health. An empty request is about the whole server.
func (Health) Ask(ctx context.Context, conn net.Conn, address string, secure *tls.Config) (answer string, err error) {
	var taken atomic.Bool
	p := newPeer(secure, address, func(context.Context) (net.Conn, error) {
		if taken.Swap(true) { // an attempt has one connection
			return nil, errors.New("the connection was given up")
		}
		return conn, nil
	})
	defer conn.Close()
	got, err := p.call(ctx, "/grpc.health.v1.Health/Check", nil)
	switch {
	case hasCode(err, codeUnimplemented, codeUnauthenticated, codePermissionDenied):
		return "", nil
	case err != nil:
		return "", err
	case len(got) != 1:
		return "", fmt.Errorf("it answered with %d messages", len(got))
	}
	of, err := fieldsOf(got[0])
	if err != nil {
		return "", err
	}
	status := uint64(0)
	for _, f := range of {
		if f.number == healthStatus {
			status = f.value
		}
	}
	switch status {
	case 1:
		return "", nil
	case 2:
		answer = "NOT_SERVING"
	default: // UNKNOWN is 0, SERVICE_UNKNOWN 3
		answer = "health status " + strconv.FormatUint(status, 10)
	}
	return answer, fmt.Errorf("it answered %s", answer)
}
