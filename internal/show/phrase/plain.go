package phrase

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// Plain is the text of an error in the words of its user. Where Go's libraries name their
// own calls ("stat x: …", "dial tcp …: connect: …", "strconv.Atoi: parsing …"), it names
// only the file, the address or the text, and what is wrong with it.
func Plain(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	causes(err, func(cause error) {
		if better := plain(cause); better != "" {
			text = strings.ReplaceAll(text, cause.Error(), better)
		}
	})
	return text
}

func causes(err error, visit func(error)) {
	if err == nil {
		return
	}
	visit(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		causes(e.Unwrap(), visit)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			causes(one, visit)
		}
	}
}

// plain are the words in place of a library's error; empty: it keeps its own words.
func plain(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Path + ": " + Plain(e.Err)
	case *os.LinkError:
		return e.New + ": " + Plain(e.Err)
	case *os.SyscallError:
		return Plain(e.Err)
	case *exec.Error:
		if errors.Is(e.Err, exec.ErrNotFound) {
			return fmt.Sprintf("%s: not found in the folders of $PATH", e.Name)
		}
		if inner := Plain(e.Err); strings.HasPrefix(inner, e.Name) { // of a path
			return inner
		}
		return e.Name + ": " + Plain(e.Err)
	case *url.Error:
		return e.URL + ": " + Plain(e.Err)
	case *net.OpError:
		if e.Addr == nil {
			return Plain(e.Err)
		}
		return e.Addr.String() + ": " + Plain(e.Err)
	case *net.DNSError:
		return fmt.Sprintf("host %q: %s", e.Name, cmp.Or(e.Err, "not found"))
	case *net.AddrError:
		return fmt.Sprintf("address %q: %s", e.Addr, strings.TrimSuffix(e.Err, " in address"))
	case *strconv.NumError:
		if errors.Is(e.Err, strconv.ErrRange) {
			return fmt.Sprintf("%q: out of range", e.Num)
		}
		return fmt.Sprintf("%q: not a number", e.Num)
	}
	if text, ok := strings.CutPrefix(err.Error(), "time: "); ok {
		return text
	}
	return ""
}
