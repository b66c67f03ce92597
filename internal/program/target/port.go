package target

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// portMark is what a free port is put in place of.
const portMark = "{port}"

// Free ports are drawn from below the range that systems take for the local end
// of outgoing connections (Linux: 32768 up), where the load's own connections
// might take a port between its choice and the target's start.
const (
	portLow  = 20000
	portHigh = 30000
)

// FreePorts returns n different TCP ports on which nothing listens.
func FreePorts(n int) ([]int, error) {
	var ports []int
	for range 100 * n {
		if len(ports) == n {
			return ports, nil
		}
		port := portLow + rand.IntN(portHigh-portLow)
		if !slices.Contains(ports, port) && listenable(fmt.Sprintf(":%d", port)) == nil {
			ports = append(ports, port)
		}
	}
	return nil, fmt.Errorf("found only %d of %d free ports from %d to %d", len(ports), n, portLow, portHigh)
}

// PortInUse returns an error when something listens at the host and port
// already, so that a target there could not, or something else would be
// measured in its place.
func PortInUse(hostport string) error {
	if err := listenable(hostport); errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("something listens on %s already: stop it, or let procfit choose a free port by writing %s in the command and the URL", hostport, portMark)
	}
	return nil // what else is wrong with it, the target will say
}

func listenable(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

// HasPort reports whether {port} is in one of the arguments.
func HasPort(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, portMark) })
}

// ExpandPort returns the arguments with the port in place of {port}.
func ExpandPort(args []string, port int) []string {
	expanded := slices.Clone(args)
	for i := range expanded {
		expanded[i] = strings.ReplaceAll(expanded[i], portMark, strconv.Itoa(port))
	}
	return expanded
}
