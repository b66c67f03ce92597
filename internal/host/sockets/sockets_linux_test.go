package sockets

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// TestUnread: connections count while what they sent is not read, accepted or not, and no
// longer. Others of the same process do not.
func TestUnread(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	s := must.Get(Of(os.Getpid()))(t)
	defer s.Close()
	if at := s.Address.String(); at != l.Addr().String() {
		t.Fatalf("%s; expected %s", at, l.Addr())
	}
	awaits := func(want int) {
		t.Helper()
		must.Until(t, fmt.Sprint(want, " connections"), func() bool { return must.Get(s.Unread())(t) == want })
	}
	awaits(0)
	var clients []net.Conn
	for range 3 {
		c := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		defer c.Close()
		clients = append(clients, c)
	}
	for _, c := range clients[:2] {
		must.Get(c.Write([]byte("GET / HTTP/1.1\r\n\r\n")))(t)
	}
	awaits(2) // which nobody has accepted
	for range 3 {
		c := must.Get(l.Accept())(t)
		defer c.Close()
		if c.RemoteAddr().String() == clients[0].LocalAddr().String() {
			c.Write([]byte("an answer that the client, of this process too, does not read"))
			c.Read(make([]byte, 100))
		}
	}
	awaits(1)
}

// TestAddress: a client on this machine is sent to an address that it can reach.
func TestAddress(t *testing.T) {
	for listens, reached := range map[string]string{"127.0.0.1": "127.0.0.1", "127.0.0.7": "127.0.0.7", "0.0.0.0": "127.0.0.1", "::": "127.0.0.1", "::1": "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(listens, "0"))
		if err != nil {
			t.Logf("%s: %v", listens, err) // without IPv6
			continue
		}
		s := must.Get(Of(os.Getpid()))(t)
		_, port, _ := net.SplitHostPort(l.Addr().String())
		if got, want := s.Address.String(), net.JoinHostPort(reached, port); got != want {
			t.Errorf("%s: %s, want %s", listens, got, want)
		}
		s.Close()
		l.Close()
	}
}

// TestNone: a process that listens nowhere has nothing to count, and one that is gone is an
// error.
func TestNone(t *testing.T) {
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Skip(err)
	}
	if _, err := Of(sleep.Process.Pid); !errors.Is(err, ErrNone) {
		t.Errorf("%v; expected %v", err, ErrNone)
	}
	sleep.Process.Kill()
	sleep.Wait()
	if _, err := Of(sleep.Process.Pid); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("%v of a process that is gone", err)
	}
}

// FuzzParse: whatever the kernel answers is read or refused.
func FuzzParse(f *testing.F) {
	f.Add(make([]byte, answerSize))
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := parse(b); (err == nil) != (len(b) >= answerSize) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	})
}
