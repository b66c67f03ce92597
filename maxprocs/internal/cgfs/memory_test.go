package cgfs

import (
	"strconv"
	"testing"
)

func TestParseMemory(t *testing.T) {
	const none, bad = -1, -2
	for _, tc := range []struct {
		text   string
		v1, v2 int64
	}{
		{"2147483648\n", 2147483648, 2147483648},
		{"2147483648", 2147483648, 2147483648},
		{"0\n", 0, 0},
		{"max\n", bad, none},
		{"max", bad, none},
		{"9223372036854771712\n", none, none}, // pages of 4 KiB
		{"9223372036854710272\n", none, none}, // of 64 KiB
		{"9223372036854775807\n", none, none}, // kernels before 3.14
		{"18446744073709551615\n", none, none},
		{"9223372036854710271\n", 9223372036854710271, 9223372036854710271},
		{"8796093018112\n", none, 8796093018112}, // a 32-bit kernel
		{"", bad, bad}, {"\n", bad, bad}, {"-1\n", bad, bad}, {"+1\n", bad, bad}, {"1 2\n", bad, bad}, {"1k\n", bad, bad}, {"0x10", bad, bad},
	} {
		for version, parse := range map[int]func(string) (int64, bool, error){1: ParseMemoryLimit, 2: ParseMemoryMax} {
			want := tc.v1
			if version == 2 {
				want = tc.v2
			}
			got, limited, err := parse(tc.text)
			switch {
			case err != nil:
				got = bad
			case !limited:
				got = none
			}
			if got != want {
				t.Errorf("v%d %q: %d (%v), want %d", version, tc.text, got, err, want)
			}
		}
	}
}

func TestParseHierarchicalLimit(t *testing.T) {
	for text, want := range map[string]string{
		"cache 1\nhierarchical_memory_limit 4096\nrss 2\n": "4096 true true",
		"hierarchical_memory_limit 9223372036854771712":    "0 false true",
		"cache 1\n":                         "0 false false",
		"":                                  "0 false false",
		"hierarchical_memory_limit\n":       "error",
		"hierarchical_memory_limit x\n":     "error",
		"hierarchical_memory_limit 1 2\n":   "error",
		"hierarchical_memory_limits 4096\n": "0 false false",
	} {
		bytes, limited, line, err := ParseHierarchicalLimit(text)
		got := strconv.FormatInt(bytes, 10) + " " + strconv.FormatBool(limited) + " " + strconv.FormatBool(line != "")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzParseMemory(f *testing.F) {
	for _, seed := range []string{"max\n", "2147483648\n", "9223372036854771712\n", "-1", "", "hierarchical_memory_limit 1\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, parse := range []func(string) (int64, bool, error){ParseMemoryMax, ParseMemoryLimit, func(s string) (int64, bool, error) {
			bytes, limited, _, err := ParseHierarchicalLimit(s)
			return bytes, limited, err
		}} {
			bytes, limited, err := parse(text)
			if bytes < 0 || bytes >= noMemoryLimit || !limited && bytes != 0 || err != nil && limited {
				t.Errorf("%q: %d, %t, %v", text, bytes, limited, err)
			}
			if again, _, _ := parse(strconv.FormatInt(bytes, 10)); limited && err == nil && bytes != noMemoryLimit32 && again != bytes && again != 0 {
				t.Errorf("%q: %d, then %d", text, bytes, again)
			}
		}
	})
}
