package live

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

func (x withF) Flush()    { x.flush() }
func (x withFH) Flush()   { x.flush() }
func (x withFP) Flush()   { x.flush() }
func (x withFHP) Flush()  { x.flush() }
func (x withFR) Flush()   { x.flush() }
func (x withFHR) Flush()  { x.flush() }
func (x withFPR) Flush()  { x.flush() }
func (x withFHPR) Flush() { x.flush() }

func (x withH) Hijack() (net.Conn, *bufio.ReadWriter, error)    { return x.hijack() }
func (x withFH) Hijack() (net.Conn, *bufio.ReadWriter, error)   { return x.hijack() }
func (x withHP) Hijack() (net.Conn, *bufio.ReadWriter, error)   { return x.hijack() }
func (x withFHP) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return x.hijack() }
func (x withHR) Hijack() (net.Conn, *bufio.ReadWriter, error)   { return x.hijack() }
func (x withFHR) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return x.hijack() }
func (x withHPR) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return x.hijack() }
func (x withFHPR) Hijack() (net.Conn, *bufio.ReadWriter, error) { return x.hijack() }

func (x withP) Push(target string, o *http.PushOptions) error    { return x.push(target, o) }
func (x withFP) Push(target string, o *http.PushOptions) error   { return x.push(target, o) }
func (x withHP) Push(target string, o *http.PushOptions) error   { return x.push(target, o) }
func (x withFHP) Push(target string, o *http.PushOptions) error  { return x.push(target, o) }
func (x withPR) Push(target string, o *http.PushOptions) error   { return x.push(target, o) }
func (x withFPR) Push(target string, o *http.PushOptions) error  { return x.push(target, o) }
func (x withHPR) Push(target string, o *http.PushOptions) error  { return x.push(target, o) }
func (x withFHPR) Push(target string, o *http.PushOptions) error { return x.push(target, o) }

func (x withR) ReadFrom(r io.Reader) (int64, error)    { return x.readFrom(r) }
func (x withFR) ReadFrom(r io.Reader) (int64, error)   { return x.readFrom(r) }
func (x withHR) ReadFrom(r io.Reader) (int64, error)   { return x.readFrom(r) }
func (x withFHR) ReadFrom(r io.Reader) (int64, error)  { return x.readFrom(r) }
func (x withPR) ReadFrom(r io.Reader) (int64, error)   { return x.readFrom(r) }
func (x withFPR) ReadFrom(r io.Reader) (int64, error)  { return x.readFrom(r) }
func (x withHPR) ReadFrom(r io.Reader) (int64, error)  { return x.readFrom(r) }
func (x withFHPR) ReadFrom(r io.Reader) (int64, error) { return x.readFrom(r) }
