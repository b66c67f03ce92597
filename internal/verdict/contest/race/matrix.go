package race

import "math"

// matrix is a dense one, small: a row a setting or a block.
type matrix struct {
	rows, columns int
	values        []float64 // row by row
}

func newMatrix(rows, columns int) *matrix {
	return &matrix{rows, columns, make([]float64, rows*columns)}
}

func (m *matrix) at(i, j int) float64     { return m.values[i*m.columns+j] }
func (m *matrix) set(i, j int, v float64) { m.values[i*m.columns+j] = v }
func (m *matrix) row(i int) []float64     { return m.values[i*m.columns : (i+1)*m.columns] }

func (m *matrix) setBoth(i, j int, v float64) {
	m.set(i, j, v)
	m.set(j, i, v)
}

func (m *matrix) times(other *matrix) *matrix {
	p := newMatrix(m.rows, other.columns)
	for i := range m.rows {
		to := p.row(i)
		for k, v := range m.row(i) {
			for j, w := range other.row(k) {
				to[j] += v * w
			}
		}
	}
	return p
}

// on is the product with a vector.
func (m *matrix) on(x []float64) []float64 {
	y := make([]float64, m.rows)
	for i := range y {
		for j, v := range m.row(i) {
			y[i] += v * x[j]
		}
	}
	return y
}

func (m *matrix) transposed() *matrix {
	t := newMatrix(m.columns, m.rows)
	for i := range m.rows {
		for j, v := range m.row(i) {
			t.set(j, i, v)
		}
	}
	return t
}

// singular is from which ratio of its pivots on a matrix has no inverse worth the name,
// as in gonum.
const singular = 1e16

// factor is the lower triangle L of a symmetric, positive definite matrix LLᵀ (Cholesky;
// Golub, Van Loan, Matrix Computations, 4.2).
type factor struct{ *matrix }

// factorOf is not ok for a matrix that is not positive definite.
func factorOf(m *matrix) (f factor, ok bool) {
	f = factor{newMatrix(m.rows, m.rows)}
	least, most := math.Inf(1), 0.0
	for j := range m.rows {
		row := f.row(j)
		pivot := m.at(j, j)
		for _, v := range row[:j] {
			pivot -= v * v
		}
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return f, false
		}
		least, most = min(least, pivot), max(most, pivot)
		row[j] = math.Sqrt(pivot)
		for i := j + 1; i < m.rows; i++ {
			below := f.row(i)
			v := m.at(i, j)
			for k, w := range row[:j] {
				v -= below[k] * w
			}
			below[j] = v / row[j]
		}
	}
	return f, most <= singular*least
}

// logDet is the logarithm of the determinant of the matrix that was factored.
func (f factor) logDet() float64 {
	sum := 0.0
	for i := range f.rows {
		sum += 2 * math.Log(f.at(i, i))
	}
	return sum
}

// solve makes X of B, with LLᵀX = B.
func (f factor) solve(b *matrix) *matrix {
	x := newMatrix(b.rows, b.columns)
	copy(x.values, b.values)
	for i := range f.rows {
		to := x.row(i)
		for k, v := range f.row(i)[:i] {
			for j, w := range x.row(k) {
				to[j] -= v * w
			}
		}
		for j := range to {
			to[j] /= f.at(i, i)
		}
	}
	for i := f.rows - 1; i >= 0; i-- {
		to := x.row(i)
		for k := i + 1; k < f.rows; k++ {
			v := f.at(k, i)
			for j, w := range x.row(k) {
				to[j] -= v * w
			}
		}
		for j := range to {
			to[j] /= f.at(i, i)
		}
	}
	return x
}

func (f factor) solveFor(b []float64) []float64 {
	return f.solve(&matrix{len(b), 1, b}).values
}

func (f factor) inverse() *matrix {
	one := newMatrix(f.rows, f.rows)
	for i := range f.rows {
		one.set(i, i, 1)
	}
	return f.solve(one)
}

// chain is a symmetric matrix in which each row has its own place and those next to it.
type chain struct{ own, next []float64 } // next[i] is at i, i+1

// chainFactor is the factor of a chain: its diagonal, and what is below that.
type chainFactor struct{ own, next []float64 }

// factored is not ok for a matrix that is not positive definite.
func (c chain) factored() (f chainFactor, logDet float64, ok bool) {
	f = chainFactor{make([]float64, len(c.own)), make([]float64, len(c.next))}
	least, most := math.Inf(1), 0.0
	for i, pivot := range c.own {
		if i > 0 {
			f.next[i-1] = c.next[i-1] / f.own[i-1]
			pivot -= f.next[i-1] * f.next[i-1]
		}
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return f, 0, false
		}
		least, most = min(least, pivot), max(most, pivot)
		f.own[i] = math.Sqrt(pivot)
		logDet += math.Log(pivot)
	}
	return f, logDet, most <= singular*least
}

func (f chainFactor) inverse() *matrix {
	n := len(f.own)
	x := newMatrix(n, n)
	for i := range n {
		x.set(i, i, 1)
		to := x.row(i)
		for j := range i + 1 { // right of it are zeros
			if i > 0 {
				to[j] -= f.next[i-1] * x.at(i-1, j)
			}
			to[j] /= f.own[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		to := x.row(i)
		for j := range to {
			if i < n-1 {
				to[j] -= f.next[i] * x.at(i+1, j)
			}
			to[j] /= f.own[i]
		}
	}
	return x
}
