package race

import (
	"cmp"
	"math"
	"slices"

	"github.com/procfit/procfit/internal/show/sorting"
)

// design has the setting and the block of each trial, both counted from 0, blocks in
// the order in which they ran, those of one start after those of another.
type design struct {
	settings  []int
	index     map[int]int
	count     []int // trials of each setting
	size      []int // trials of each block
	start     []int // of each block
	samples   []sample
	centre    float64   // taken off the figures
	weight    []float64 // robust, of each sample
	precision []float64 // of each sample, in 1/σ²
}

func newDesign(samples []sample) *design {
	d := &design{index: map[int]int{}}
	blocks := map[int]int{}
	samples = slices.Clone(samples)
	sorting.Stable(samples, func(a, b sample) int { return cmp.Compare(a.start, b.start) })
	for _, s := range samples {
		d.settings = append(d.settings, s.setting)
		if _, seen := blocks[s.block]; !seen {
			blocks[s.block] = len(blocks)
			d.start = append(d.start, s.start)
		}
		d.centre += s.y / float64(len(samples))
	}
	slices.Sort(d.settings)
	d.settings = slices.Compact(d.settings)
	for i, n := range d.settings {
		d.index[n] = i
	}
	d.count, d.size = make([]int, len(d.settings)), make([]int, len(blocks))
	for _, s := range samples {
		a, b := d.index[s.setting], blocks[s.block]
		d.count[a]++
		d.size[b]++
		d.samples = append(d.samples, sample{a, b, s.start, s.y - d.centre})
		d.weight = append(d.weight, 1)
	}
	d.precision = make([]float64, len(samples))
	return d
}

// tied reports whether the machine of a block and of the next is one.
func (d *design) tied(block int) bool { return d.start[block] == d.start[block+1] }

// free is how many trials are left to tell the noise by: each setting takes one, and each
// start's level beyond the first.
func (d *design) free() int {
	n := len(d.samples) - len(d.settings)
	for b := range len(d.start) - 1 {
		if !d.tied(b) {
			n--
		}
	}
	return max(0, n)
}

// sums are the precisions and weighted figures, of each setting in each block.
func (d *design) sums() (precision *matrix, setting, block, settingSum, blockSum []float64) {
	a, b := len(d.settings), len(d.size)
	precision = newMatrix(b, a)
	setting, settingSum = make([]float64, a), make([]float64, a)
	block, blockSum = make([]float64, b), make([]float64, b)
	for i, s := range d.samples {
		w := d.precision[i]
		precision.row(s.block)[s.setting] += w
		setting[s.setting] += w
		block[s.block] += w
		settingSum[s.setting] += w * s.y
		blockSum[s.block] += w * s.y
	}
	return precision, setting, block, settingSum, blockSum
}

// walk is the prior precision of the blocks' effects, in 1/σ², and the logarithm of
// its determinant: each differs from the one before by N(0, σ²·wander) a trial that
// lies between their middles. The common level of each start's is left free; ridge keeps
// the matrix regular.
func (d *design) walk(wander float64) (chain, float64) {
	const ridge = 1e-4
	n := len(d.size)
	q := chain{make([]float64, n), make([]float64, n-1)}
	for b := range n {
		q.own[b] = ridge
	}
	for b := range n - 1 {
		if !d.tied(b) {
			continue
		}
		p := 1 / (wander * float64(d.size[b]+d.size[b+1]) / 2)
		q.own[b] += p
		q.own[b+1] += p
		q.next[b] = -p
	}
	_, logDet, ok := q.factored()
	if !ok {
		logDet = math.Inf(1)
	}
	return q, logDet
}

// leverage is how much each sample draws the fit to itself, 0 to 1.
func (d *design) leverage(s solution) []float64 {
	out := make([]float64, len(d.samples))
	for i, x := range d.samples {
		v := s.cov.at(x.setting, x.setting) + 2*s.cross.at(x.block, x.setting) + s.blocks.at(x.block, x.block)
		out[i] = min(max(d.precision[i]*v, 0), 1)
	}
	return out
}

func (d *design) weigh(scale []float64) {
	for i, s := range d.samples {
		d.precision[i] = d.weight[i] / scale[s.setting]
	}
}
