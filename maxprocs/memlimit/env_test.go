package memlimit

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// tell is the variable by which TestMain is asked for the runtime's own reading.
const tell = "MEMLIMIT_TEST_TELL"

func TestMain(m *testing.M) {
	if os.Getenv(tell) != "" {
		fmt.Print(debug.SetMemoryLimit(-1))
		os.Exit(0)
	}
	if how := os.Getenv(grow); how != "" {
		grown(how)
		os.Exit(0)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
	os.Exit(m.Run())
}

// values are of GOMEMLIMIT.
var values = []string{
	"", "off", "0", "1", "100MiB", "100B", "1TiB", "1KiB", "3GiB", "007", "9223372036854775807", "9223372036854775807B",
	"9223372036854775808", "8388608TiB", "8388607TiB", "9007199254740991KiB", "9007199254740992KiB",
	"+5", "+5MiB", "-1", "-1MiB", "B", "iB", "KiB", "MiB", "5iB", "5BB", "5KB", "5k", "1.5GiB", "1_000", " 1", "1 ", "0x10", "OFF", "max", "٣",
}

// TestParse holds Parse against the runtime that runs this test.
func TestParse(t *testing.T) {
	for _, value := range values {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), tell+"=1", "GOMEMLIMIT="+value)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		got, ok := Parse(value)
		if err != nil {
			if ok {
				t.Errorf("%q: %d, and the runtime refuses it: %s", value, got, exit.Stderr)
			}
			continue
		}
		if want := string(out); !ok || strconv.FormatInt(got, 10) != want {
			t.Errorf("%q: %d, %t, the runtime takes %s", value, got, ok, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for bytes, want := range map[int64]string{
		NoLimit: "off", 0: "0", 1: "1", 1023999: "1023999", 1025000: "1000KiB", 1932735283: "1843MiB", 1 << 30: "1GiB",
		512 << 20: "512MiB", 3 << 40: "3TiB", 1000 << 10: "1000KiB", 1500 << 20: "1500MiB", math.MaxInt64 - 1: "8388607TiB",
	} {
		if got := Format(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, v := range values {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		bytes, ok := Parse(value)
		if !ok {
			if bytes != 0 {
				t.Errorf("%q: %d", value, bytes)
			}
			return
		}
		again, ok := Parse(Format(bytes))
		if !ok || again > bytes || bytes != NoLimit && float64(again) < 0.998*float64(bytes) {
			t.Errorf("%q: %d, written %s, which is %d", value, bytes, Format(bytes), again)
		}
		if strings.Contains(value, " ") {
			t.Errorf("%q was taken", value)
		}
	})
}
