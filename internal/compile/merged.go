package compile

// addedTerms returns the terms of a sum of two costs. A value has one term, whose factors are added up. So its first
// gradient is one Fill, and a cost that is added to itself many times stays short.
func addedTerms(a, b []term) []term {
	return merged(a, b, func(t term) ID { return t.id }, func(t *term, other term) { t.factor += other.factor })
}

// addedNorms returns the sum of sums of squares of parameters, with one entry for each parameter and kind.
func addedNorms(a, b []norm) []norm {
	kind := func(n norm) norm { n.by = 0; return n }
	return merged(a, b, kind, func(n *norm, other norm) { n.by += other.by })
}

// merged returns the elements of a and then of b, in new memory. It adds an element to an earlier one with its key.
func merged[E any, K comparable](a, b []E, key func(E) K, add func(to *E, e E)) []E {
	var out []E
	at := make(map[K]int, len(a)+len(b))
	for _, list := range [][]E{a, b} {
		for _, e := range list {
			k := key(e)
			if i, ok := at[k]; ok {
				add(&out[i], e)
				continue
			}
			at[k] = len(out)
			out = append(out, e)
		}
	}
	return out
}
