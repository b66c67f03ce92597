package manifest

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
)

// quantity is an amount of a resource, exact
// (kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity).
type quantity struct {
	amount *big.Rat // nil: none is written
	text   string
}

var quantityForm = regexp.MustCompile(`^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?$`)

var binaryUnits = map[string]int{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

var decimalUnits = map[string]int{"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}

// longestQuantity bounds the work that a hostile one may cause.
const longestQuantity = 64

// parseQuantity reads "500m", "1.5", "2e3", "1Gi".
func parseQuantity(text string) (quantity, error) {
	m := quantityForm.FindStringSubmatch(text)
	if m == nil || len(text) > longestQuantity {
		return quantity{}, fmt.Errorf("%.40q is not a quantity such as 500m or 1.5", text)
	}
	amount, ok := new(big.Rat).SetString(m[1])
	if !ok {
		return quantity{}, fmt.Errorf("%.40q is not a quantity such as 500m or 1.5", text)
	}
	if bits, ok := binaryUnits[m[2]]; ok {
		amount.Mul(amount, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(bits))))
		return quantity{amount, text}, nil
	}
	exponent, ok := decimalUnits[m[2]]
	if !ok {
		var err error
		if exponent, err = strconv.Atoi(m[2][1:]); err != nil {
			return quantity{}, fmt.Errorf("%.40q is not a quantity such as 500m or 1.5: %w", text, err)
		}
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil))
	if exponent < 0 {
		power.Inv(power)
	}
	return quantity{amount.Mul(amount, power), text}, nil
}

// positive reports whether there is one, above zero. To Kubernetes a limit of zero is none.
func (q quantity) positive() bool { return q.amount != nil && q.amount.Sign() > 0 }

// cpus is the quantity as a number.
func (q quantity) cpus() float64 {
	if q.amount == nil {
		return 0
	}
	f, _ := q.amount.Float64()
	return f
}

// ceil is the quantity divided by the divisor and rounded up, as a resourceFieldRef
// gives it: CPUs are first rounded up to thousandths (k8s.io/kubectl,
// resource.convertResourceCPUToString).
func (q quantity) ceil(divisor quantity) int64 {
	thousand := big.NewRat(1000, 1)
	num := roundUp(new(big.Rat).Mul(q.amount, thousand))
	den := roundUp(new(big.Rat).Mul(divisor.amount, thousand))
	if den.Sign() <= 0 {
		return 0
	}
	n := roundUp(new(big.Rat).SetFrac(num, den))
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

func roundUp(r *big.Rat) *big.Int {
	n, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n
}
