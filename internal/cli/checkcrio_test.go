package cli

import (
	"fmt"
	"testing"
)

// FuzzReadCRIO holds that a floor that is read is 1 or more, and reads the same again.
func FuzzReadCRIO(f *testing.F) {
	for _, text := range []string{"1", "first:4", "0", "first:", "first:first:1", ":1", "+3", " 3", "2147483648", "second:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		by, err := readCRIO(text)
		if err != nil {
			if by.Floor != 0 || by.First {
				t.Errorf("%q is %+v, and %v", text, by, err)
			}
			return
		}
		again := fmt.Sprint(by.Floor)
		if by.First {
			again = "first:" + again
		}
		if other, err := readCRIO(again); by.Floor < 1 || err != nil || other != by {
			t.Errorf("%q is %+v, and %q is %+v: %v", text, by, again, other, err)
		}
	})
}
