package svg

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/exec"
)

// palette has a colour for each entry of the key. They are as far apart as 18
// colours can be that stand out from the rows and the two greys, light and dark
// (OKLab, by search), and in an order in which neighbours differ most.
var palette = []string{
	"#0060a8", "#d83000", "#006c00", "#b454d8", "#00b4f0", "#b4a824", "#9c4854", "#603ccc", "#f084d8",
	"#009c78", "#fc8400", "#3c78fc", "#a80c84", "#48c030", "#a89cfc", "#846c00", "#f04884", "#d88484",
}

// pale are the colours on which dark letters are read better than white ones.
var pale = []int{3, 4, 5, 8, 9, 10, 11, 13, 14, 16, 17}

// The classes of what has no colour of its own.
const (
	others = "others"
	ofGo   = "own" // the runtime's own goroutines
)

// colorStyle is the style sheet of the palette.
func colorStyle() string {
	var b strings.Builder
	for i, c := range palette {
		fmt.Fprintf(&b, ".%s { color: %s; } ", colorClass(i), c)
	}
	var in []string
	for _, i := range pale {
		in = append(in, "."+colorClass(i)+" .in")
	}
	return b.String() + "\n" + strings.Join(in, ", ") + " { fill: #101418; }\n"
}

func colorClass(i int) string { return "c" + strconv.Itoa(i) }

// key names the goroutines that have a colour, in the order of their appearance.
type key struct {
	list   []exec.Goroutine
	others exec.Tally // drawn or not, but for the runtime's own
	class  map[int64]string
}

// newKey chooses those that the drawing shows longest. One whose bars together are
// no wider than a line has no colour: it would not be found.
func newKey(t *exec.Trace, end time.Duration) key {
	drawn := map[int64]time.Duration{}
	for _, s := range t.Spans {
		drawn[s.Goroutine] += s.End - s.Start
	}
	k := key{others: t.Dropped, class: map[int64]string{}}
	var seen []exec.Goroutine
	for _, g := range t.Goroutines {
		switch {
		case g.Runtime:
		case float64(drawn[g.ID])/float64(end)*plotWide >= thin:
			seen = append(seen, g)
		default:
			k.others.Add(g)
		}
	}
	list, rest := exec.Longest(seen, len(palette), func(g exec.Goroutine) time.Duration { return drawn[g.ID] })
	for _, g := range rest {
		k.others.Add(g)
	}
	for i, g := range list {
		k.class[g.ID] = colorClass(i)
	}
	k.list = list
	return k
}

// of is the class of a span.
func (k key) of(s exec.Span) string {
	if s.Runtime {
		return ofGo
	}
	if class, ok := k.class[s.Goroutine]; ok {
		return class
	}
	return others
}

// classes are all, those that are painted over by others first.
func (k key) classes() []string {
	list := []string{others, ofGo}
	for i := range k.list {
		list = append(list, colorClass(i))
	}
	return list
}

// entry is a colour and what it stands for.
type entry struct{ class, text string }

// entries are those of the key; the greys only where they are drawn.
func (d *drawing) entries() []entry {
	var list []entry
	for _, g := range d.key.list {
		list = append(list, entry{d.key.class[g.ID], keyName(g)})
	}
	has := func(class string) bool {
		return slices.ContainsFunc(d.t.Spans, func(s exec.Span) bool { return d.key.of(s) == class })
	}
	if has(others) {
		text := "others"
		if n := d.key.others.Goroutines; n > 0 {
			text += ": " + strconv.FormatInt(n, 10)
		}
		list = append(list, entry{others, text})
	}
	if has(ofGo) {
		list = append(list, entry{ofGo, "the runtime's own"})
	}
	return list
}

func (d *drawing) drawKey(list []entry, y int) {
	for i, e := range list {
		x, y := float64(left+i%keyColumns*keyWide), y+i/keyColumns*keyRoom
		fmt.Fprintf(d, `<g class="key %s"><rect x="%s" y="%d" width="11" height="11" rx="2"/></g>`, e.class, px(x), y)
		d.text(x+17, y+10, "", "", e.text)
	}
}

// keyLetters is how many have room in an entry of the key.
const keyLetters = 26

// keyName shortens the name and not the number, by which it is found elsewhere.
func keyName(g exec.Goroutine) string {
	id := "G " + strconv.FormatInt(g.ID, 10)
	if g.Name == "" {
		return id
	}
	id = " (" + id + ")"
	return phrase.Clip(g.Name, max(1, keyLetters-len(id))) + id
}
