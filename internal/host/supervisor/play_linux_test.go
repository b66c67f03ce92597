//go:build !portable

package supervisor

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/test/must"
)

// The test binary plays the targets when this is its first argument.
const playArg = "play"

// spinHolds is the memory of the target that spins, in bytes.
const spinHolds = 64 << 20

func TestMain(m *testing.M) {
	if code, ok := Stage(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) > 2 && os.Args[1] == playArg {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
	os.Exit(m.Run())
}

// play is a target of the tests.
func play(part string, args []string) int {
	switch part {
	case "print": // args
		fmt.Println(strings.Join(args, "\n"))
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "flood": // megabytes of lines
		n, _ := strconv.Atoi(args[0])
		line := []byte(strings.Repeat("x", 1023) + "\n")
		fmt.Println("the first line")
		for range n << 10 {
			os.Stdout.Write(line)
		}
		fmt.Println("the last line")
	case "stubborn": // does not end with SIGTERM
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGTERM)
		signal.Ignore(unix.SIGPIPE) // of who reads its output
		fmt.Println("ready")
		for over := time.After(time.Minute); ; {
			select {
			case <-c:
				fmt.Println("asked to end")
			case <-over:
				return 0
			}
		}
	case "graceful":
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGTERM)
		fmt.Println("ready")
		<-c
		fmt.Println("going")
		return 7
	case "fork", "orphan":
		return playTree(part, args)
	case "facts":
		printFacts()
	case "own": // a procfit that starts the target args, prints its processes and waits for SIGKILL
		return playOwner(args)
	case "keep":
		return playKeeper(args[0])
	case "crash":
		crashing(args[0])
	case "compile": // with the go command, in a build folder
		out, err := Run(context.Background(), Spec{Command: []string{args[0], "build", "-o", os.DevNull, "."}, Env: append(os.Environ(), "GOTMPDIR="+args[1]), Folders: []string{args[1]}})
		fmt.Println(out, err)
		return 1
	case "spin": // for so long, and until half of that is CPU time: a busy machine gives less
		held := bytes.Repeat([]byte{1}, spinHolds)
		defer runtime.KeepAlive(held)
		d, _ := time.ParseDuration(args[0])
		for begin := time.Now(); time.Since(begin) < d || cpuTime() < d/2; {
		}
	case "sleep":
		time.Sleep(time.Minute)
	case "until": // a file is there
		happens(func() bool { _, err := os.Stat(args[0]); return err == nil })
	}
	return 0
}

// playTree leaves processes behind.
func playTree(part string, args []string) int {
	switch part {
	case "fork": // leaves a child of the group and a daemon of its own session behind; then does as args say
		for _, attributes := range []*syscall.SysProcAttr{nil, {Setsid: true}} {
			cmd := exec.Command("/proc/self/exe", playArg, "stubborn")
			cmd.SysProcAttr, cmd.Stdout = attributes, os.Stdout
			if err := cmd.Start(); err != nil {
				fmt.Println(err)
				return 1
			}
		}
		return play(args[0], args[1:])
	case "orphan": // makes fork its child, which ends at once: the daemons are then nobody's
		cmd := exec.Command("/proc/self/exe", playArg, "fork", "exit", "0")
		cmd.Stdout = os.Stdout
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
		}
		fmt.Println("ready")
		time.Sleep(time.Minute)
	}
	return 0
}

// printFacts prints what a Go program sees at main, and what holds for each of
// its threads.
func printFacts() {
	fmt.Println("numcpu", runtime.NumCPU(), "procs", runtime.GOMAXPROCS(0))
	var locked sync.WaitGroup
	for range 4 { // threads beyond those of the start
		locked.Add(1)
		go func() { runtime.LockOSThread(); locked.Done(); time.Sleep(time.Minute) }()
	}
	locked.Wait()
	for _, file := range []string{"status", "cgroup"} {
		names, _ := filepath.Glob("/proc/self/task/*/" + file)
		for _, name := range names {
			data, _ := os.ReadFile(name)
			for line := range strings.Lines(string(data)) {
				if file == "cgroup" || strings.HasPrefix(line, "Cpus_allowed_list") || strings.HasPrefix(line, "SigIgn") || strings.HasPrefix(line, "SigBlk") {
					fmt.Print(filepath.Base(filepath.Dir(name)), " ", line)
				}
			}
		}
	}
}

// playOwner needs the groups to enter in the environment, as the arguments are
// the target's.
func playOwner(args []string) int {
	p, err := Start(context.Background(), Spec{Command: args, ProcsFiles: strings.Fields(os.Getenv("PROCFIT_TEST_PROCS"))})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	happens(func() bool { return strings.Count(p.LastWords(5).Text, "ready") >= 3 }) // an orphan's two and itself: no process comes or goes after that
	pids, err := p.Descendants()
	fmt.Println(p.line.pid, pids, err)
	time.Sleep(time.Hour)
	return 1
}

// startPlay starts a part with one more variable, and returns it with the first
// line that it prints.
func startPlay(t *testing.T, variable string, part ...string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{playArg}, part...)...)
	cmd.Env = append(os.Environ(), variable)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s says %q, %v", part, line, err)
	}
	return cmd, line
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return math.MaxInt64
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
