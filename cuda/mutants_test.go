package cuda

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/dptrain/dptrain/cuda/internal/driver"
	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/enginetest"
)

// walkMutant is a fault in the kernels of package walk: one change of their text.
type walkMutant struct {
	file, old, new string
	by             string // the check of the suite or graph of the zoo that must find it
	says           string // a part of the report; "" if any will do
}

// Graphs that find more than one mutant.
const (
	dilatedGraph = "a convolution with dilated rows"
	stridedGraph = "convolutions with stride, padding and dilation"
	windowsGraph = "a value in many windows"
	poolGraph    = "max-pool with overlap and padding"
	softmaxGraph = "softmaxes beside their operands"
	rowsGraph    = "mean of rows that are looked up"
	partsGraph   = "many indices, few rows"
	dropoutGraph = "dropout"
	derivedGraph = "a function of a weight"
	groupsGraph  = "products of its own, both turned"
	foursGraph   = "products of rows of four"
	normalGraph  = "normalised rows"
)

// Each class of fault in package walk's kernels must be found, by the check or graph named here. Each is compiled,
// which takes seconds.
func TestWalkMutantsAreFound(t *testing.T) {
	onlyIfChanged(t)
	for name, m := range map[string]walkMutant{
		// Barriers.
		"a tile begins before the one before ends":        {"clip.cu", "		barrier(); // the former tile's values have been read\n", "", "Exact", "race"},
		"norms are measured before the walk ends":         {"clip.cu", "		prepared_for = run;\n		barrier();\n", "		prepared_for = run;\n", "residual", ""},
		"factors are computed before all norms are there": {"clip.cu", "		barrier();\n		global<const double> set", "		global<const double> set", "residual", ""},
		"sums begin before it is known of whom":           {"clip.cu", "		barrier();\n		contributions all", "		contributions all", "residual", ""},
		"no instruction waits":                            {"walk.cuh", "		if (int(int32_t(code[word_wait])) == 1)\n			barrier();\n", "", "residual", ""},
		"outputs are read before the walk ends":           {"predict.cu", "		prepared_for = run;\n		barrier();\n", "		prepared_for = run;\n", "Outputs", ""},
		"a tile begins before the one before is read":     {"predict.cu", "		barrier(); // the former tile's outputs have been read\n", "", "Outputs", "race"},
		// Unwritten memory.
		"the last norm isn't measured":              {"clip.cu", "u < t.n * norm_parts; u += warps", "u < t.n * norm_parts - 1; u += warps", "residual", "never written"},
		"a pooling forgets whom it took":            {"walk.cuh", "		places[n.e] = r.first + m.at;\n", "", "max-pool: tall windows", "never written"},
		"the last element of a tile isn't computed": {"walk.cuh", "end = t.n * size;", "end = t.n * size - 1;", "function neg", "never written"},
		// Bounds.
		"rows beyond the last":           {"product.cuh", "				if (m0 + i < m)\n", "", "residual", ""},
		"columns beyond the last":        {"product.cuh", "j < Columns && n0 + 32 * j < n; j++", "j < Columns; j++", stridedGraph, ""},
		"rows by eight, rounded down":    {"product.cuh", "(m + rows - 1) / rows", "m / rows", "residual", "never written"},
		"columns by lanes, rounded down": {"product.cuh", "(n + across - 1) / across", "n / across", "residual", "never written"},
		"a sample between two tiles":     {"clip.cu", "first += t.n;", "first += t.n + (left > t.n);", "Shares", ""},
		"a tile of any size":             {"clip.cu", "t.n = int(left / tiles);", "t.n = int(left);", "Shares", "out of bounds"},
		"the last tile":                  {"predict.cu", "(samples + capacity - 1) / capacity", "samples / capacity", "Outputs", "never written"},
		"a tile that is always full":     {"predict.cu", "t.n = minimum(capacity, samples - from);", "t.n = capacity;", "Outputs", "out of bounds"},
		// A run's sum on the grid.
		"a coordinate is dropped":                   {"clip.cu", "if (units != 0)", "if (units != 0 && j != 0)", "Clipping", ""},
		"a coordinate is added twice":               {"clip.cu", "(long long)int32_t(units));", "(long long)int32_t(units) * 2);", "Clipping", ""},
		"the last element of a gradient is dropped": {"clip.cu", "j < values; j += int(blockDim.x)", "j < values - 1; j += int(blockDim.x)", "scale by a parameter", ""},
		"a tile's last sample is dropped":           {"clip.cu", "k < all.count;", "k < all.count - (all.count > 1);", "residual", ""},
		"a contribution of one unit is dropped":     {"clip.cu", "if (units != 0)", "if (units + 1 > 2)", "Rounding", ""},
		"a product is rounded before":               {"clip.cu", "word_of(multiply_add(x, y, magic))", "word_of(multiply_add(x, y, 0.0f) + magic)", "Clipping", ""},
		"a finer grid":                              {"clip.cu", "0x1.8p23 * set", "0x1.8p22 * set", "Rounding", ""},
		"a surplus of one sample less":              {"clip.cu", "all.count * word_of(magic)", "(all.count - 1) * word_of(magic)", "residual", ""},
		"units without a sign":                      {"clip.cu", "(long long)int32_t(units)", "(long long)units", "residual", ""},
		"the coarse grid":                           {"clip.cu", "set[setting_fine]);", "set[setting_coarse]);", "Clipping", ""},
		"samples are taken by every block":          {"clip.cu", "first = line * blockIdx.x / gridDim.x", "first = 0", "Shares", ""},
		"a share's last sample is dropped":          {"clip.cu", "last = line * (blockIdx.x + 1) / gridDim.x;", "last = line * (blockIdx.x + 1) / gridDim.x - 1;", "Shares", ""},
		"samples before a run's first":              {"clip.cu", "			if (first < before)\n				first = before;\n", "", "Shares", ""},
		"the first run's samples":                   {"clip.cu", "size_t row = size_t(drawn.slot) * drawn.runs + run;", "size_t row = size_t(drawn.slot) * drawn.runs;", "Shares", ""},
		"the first slot's samples":                  {"clip.cu", "size_t row = size_t(drawn.slot) * drawn.runs + run;", "size_t row = run;", "Shares", ""},
		"the first slot's numbers of samples":       {"clip.cu", "drawn.sizes + size_t(drawn.slot) * drawn.runs", "drawn.sizes", "Shares", ""},
		// Clip factors.
		"no factor":                               {"clip.cu", "clipped ? v * step.factor() : v", "v", "residual", ""},
		"the factor twice":                        {"clip.cu", "clipped ? v * step.factor() : v", "clipped ? v * step.factor() * step.factor() : v", "residual", ""},
		"the factor on x and δ":                   {"clip.cu", "clipped ? v * step.factor() : v", "v * step.factor()", "residual", ""},
		"no factor on a gradient that was formed": {"clip.cu", "out.add(s.factor(), ", "out.add(1.0f, ", "Clipping", ""},
		"samples of factor 0 are summed":          {"clip.cu", "unsigned those = lanes_where(factor != 0);\n			if (factor != 0) {", "unsigned those = lanes_where(s < t.n);\n			if (s < t.n) {", "Clipping", ""},
		"no norm is a small norm":                 {"clip.cu", "&& norm <= clip", "&& !(norm > clip)", "Clipping", ""},
		"any norm is usable":                      {"clip.cu", "return squared <= 0x1p120 ? squared : double(INFINITY);", "return squared;", "Clipping", ""},
		"norms are usable up to less":             {"clip.cu", "squared <= 0x1p120", "squared < 0x1p120", "Clipping", ""},
		"factors are used down to less":           {"clip.cu", "factor >= 0x1p-100", "factor >= 0x1p-101", "Clipping", ""},
		"a factor of single precision's norm":     {"clip.cu", "clip / (norm + stability)", "float(clip) / float(norm + stability)", "Clipping", ""},
		"small gradients are never scaled":        {"clip.cu", "stability == 0 && norm", "norm", "Clipping", ""},
		"norms without the addend":                {"clip.cu", "(norm + stability)", "norm", "Clipping", ""},
		"the addend on squares":                   {"clip.cu", "(norm + stability)", "sqrt(squared + stability)", "Clipping", ""},
		"factors are rounded up":                  {"clip.cu", "float(factor)", "float(factor * (1 + 0x1p-24))", "Clipping", ""},
		"NaN is a factor":                         {"clip.cu", "return factor >= 0x1p-100", "return !(factor < 0x1p-100)", "Clipping", ""},
		// Rows of tables.
		"rows of one index are measured by themselves": {"walk.cuh", "mine % rows).count > 1)", "mine % rows).count < 0)", rowsGraph, ""},
		"pairs aren't merged":                          {"walk.cuh", "mine % rows).count > 1)", "mine % rows).count > 2)", rowsGraph, ""},
		"merged rows stay where they were too":         {"walk.cuh", "		x[size_t(int32_t(which.positions[i])) * k] = 0.0f;", "		;", rowsGraph, ""},
		"the last of equals isn't merged":              {"walk.cuh", "for (int i = 1; i < which.count; i++)\n		sum", "for (int i = 1; i < which.count - 1; i++)\n		sum", rowsGraph, ""},
		"the first of equals is merged twice":          {"walk.cuh", "for (int i = 1; i < which.count; i++)\n		sum", "for (int i = 0; i < which.count; i++)\n		sum", rowsGraph, ""},
		"many equals aren't merged":                    {"walk.cuh", "merge_many(x + j, same, k);", ";", partsGraph, ""},
		"many equals stay where they were too":         {"walk.cuh", "i == 0 ? sum : 0.0f", "sum", partsGraph, ""},
		"a lane's part of many equals":                 {"walk.cuh", "	sum = warp_sum(sum);\n	for (int i = int(lane()); i < which", "	for (int i = int(lane()); i < which", partsGraph, ""},
		"equals of the first sample alone":             {"walk.cuh", "(mine < t.n * rows &&", "(mine < rows &&", partsGraph, ""},
		"the first element of many equals":             {"walk.cuh", "for (int j = 0; j < k; j++)\n					merge_many", "for (int j = 0; j < 1; j++)\n					merge_many", partsGraph, ""},
		"the last element of few equals":               {"walk.cuh", "j < k; j += 32)\n					merge_few", "j < k - 1; j += 32)\n					merge_few", rowsGraph, ""},
		"one group of equals among 32 rows":            {"walk.cuh", "those &= those - 1)", "those = 0)", rowsGraph, ""},
		"another group's row":                          {"walk.cuh", "(those & -those) - 1)", "those - 1)", rowsGraph, ""},
		"rows are merged while others are written":     {"walk.cuh", "if (int(int32_t(code[word_wait])) == 1)", "if (int(int32_t(code[word_wait])) == 1 && int(int32_t(code[word_op])) != op_merge)", "embedding classifier", "race"},
		"another sample's equals":                      {"program.cuh", "size_t at = size_t(sample_of(t, s)) * x.size + i;", "size_t at = size_t(s) * x.size + i;", rowsGraph, ""},
		"another sample's integers":                    {"program.cuh", "x.values[size_t(sample_of(t, s)) * x.size + i]", "x.values[size_t(s) * x.size + i]", rowsGraph, ""},
		"another column of integers":                   {"program.cuh", "at = size_t(int32_t(code[word + 1])) * stored;", "at = 0;", "a table looked up twice", ""},
		"places for numbers":                           {"program.cuh", "positions + size * stored}", "positions}", rowsGraph, ""},
		"the first row for all":                        {"walk.cuh", "n.at[2], n.at[1]);\n		z[n.e] = table", "n.at[2], 0);\n		z[n.e] = table", rowsGraph, ""},
		"a row too far":                                {"walk.cuh", "table[size_t(picked) * k + n.at[0]]", "table[size_t(picked + 1) * k + n.at[0]]", rowsGraph, ""},
		"the last element isn't looked up":             {"walk.cuh", "n.e < t.n * rows * k; n.next()) {\n		int picked", "n.e < t.n * rows * k - 1; n.next()) {\n		int picked", "an index a sample", "never written"},
		"a table's gradient is replaced":               {"walk.cuh", "g[at] = float(g[at]) + sum_rows", "g[at] = sum_rows", "a table looked up twice", ""},
		"a table's gradient where it was picked last":  {"walk.cuh", "integer_at(t, x, s, same.positions[0]);", "integer_at(t, x, s, rows - 1);", "a table looked up twice", ""},
		"a sample's gradient in the first one's":       {"walk.cuh", "(size_t(s) * n + picked) * k + j", "size_t(picked) * k + j", "a table that is a weight too", "race"},
		"rows that aren't clipped":                     {"clip.cu", "out.add(v, factor, 0)", "out.add(v, 1, 0)", rowsGraph, ""},
		"rows by another's factor":                     {"clip.cu", "float factor = all.factors[n.at[2]]", "float factor = all.factors[0]", "embedding classifier", ""},
		"rows of whoever is in the tile":               {"clip.cu", "int s = all.rows[n.at[2]]", "int s = n.at[2]", "Tables", ""},
		"rows of the first contribution alone":         {"clip.cu", "e < all.count * values", "e < values", rowsGraph, ""},
		"the last element of the rows is dropped":      {"clip.cu", "e < all.count * values", "e < all.count * values - 1", "an index a sample", ""},
		"rows go where the first went":                 {"clip.cu", "integer_at(t, picked, s, n.at[1]) * k", "integer_at(t, picked, s, 0) * k", rowsGraph, ""},
		// Norms.
		"the norm of 32 elements":                         {"clip.cu", "j < n; j += 32) {\n		double x", "j < n && j < 32; j += 32) {\n		double x", "two rows within a sample", ""},
		"the norm without the last element":               {"clip.cu", "j < n; j += 32) {\n		double x", "j < n - 1; j += 32) {\n		double x", "residual", ""},
		"squares are summed in single precision":          {"clip.cu", "sums[i] += x * x;", "sums[i] = double(float(sums[i]) + float(x * x));", "Wide", ""},
		"squares are taken in single precision":           {"clip.cu", "sums[0] += x * x;", "sums[0] += float(x) * float(x);", "Scales", ""},
		"the last squares are summed in single precision": {"clip.cu", "sums[0] += x * x;", "sums[0] = double(float(sums[0]) + float(x * x));", "Clipping", ""},
		"three of a lane's four sums":                     {"clip.cu", "(sums[0] + sums[1]) + (sums[2] + sums[3])", "(sums[0] + sums[1]) + sums[2]", "Wide", ""},
		"squares beyond the last element":                 {"clip.cu", "j + 96 < n;", "j < n;", "residual", ""},
		"seven of eight parts of a norm":                  {"clip.cu", "part < norm_parts; part++", "part < norm_parts - 1; part++", "many parameters", ""},
		"one part of each norm, eight times":              {"clip.cu", "part = (u + s) % norm_parts", "part = s % norm_parts", "many parameters", ""},
		"δ has no norm":                                   {"clip.cu", "				if (product)\n", "				if (false)\n", "residual", ""},
		"the last parameter has no norm":                  {"clip.cu", "for (int i = part; i < reduced; i", "for (int i = part; i < reduced - 1; i", "scale by a parameter", ""},
		// What is another's.
		"the first run's parameters":             {"clip.cu", "t.params = drawn.params + size_t(run) * drawn.size;", "t.params = drawn.params;", "Groups", ""},
		"the first run's clipping norm":          {"clip.cu", "set[setting_clip]", "drawn.settings[setting_clip]", "Groups", ""},
		"the first run's rule of clipping":       {"clip.cu", "set[setting_stability]", "drawn.settings[setting_stability]", "Groups", ""},
		"the first run's grid":                   {"clip.cu", "0x1.8p23 * set[setting_fine]", "0x1.8p23 * drawn.settings[setting_fine]", "Groups", ""},
		"the first run's sums":                   {"clip.cu", "drawn.sums + (size_t(run) * drawn.size +", "drawn.sums + (", "Groups", ""},
		"another run's parameters predict":       {"predict.cu", "p.params + size_t(int32_t(p.which[run])) * p.params_size", "p.params + size_t(run) * p.params_size", "Predict", ""},
		"the first tile's samples":               {"clip.cu", "(row * drawn.width + from)", "(row * drawn.width)", "Shares", ""},
		"another block's buffers":                {"program.cuh", "p.floats + size_t(blockIdx.x) * p.float_count * p.capacity", "p.floats", "Exact", "race between blocks"},
		"another block's indices":                {"program.cuh", "p.indices + size_t(blockIdx.x) * p.index_count * p.capacity", "p.indices", "max-pool: tall windows", "race between blocks"},
		"a row's place in the tile":              {"program.cuh", "return o.base + size_t(sample_of(t, s)) * o.size;", "return o.base + size_t(s) * o.size;", "Clipping", ""},
		"an element's place in the tile":         {"program.cuh", "size_t(sample_of(t, e / o.size)) * o.size + j", "size_t(e / o.size) * o.size + j", "Clipping", ""},
		"a factor's place in the tile":           {"clip.cu", "o.space == in_data ? all.samples[k] : all.rows[k]", "all.rows[k]", "Clipping", ""},
		"a tile that begins at the first sample": {"program.cuh", "t.first + s :", "s :", "Outputs", ""},
		// What is derived and what is dropped.
		"another run's derived values":           {"clip.cu", "run == prepared_for ? p.prepared", "prepared_for >= 0 ? p.prepared", "Groups", ""},
		"derived values of no run":               {"clip.cu", "walk(t, run == prepared_for ? p.prepared : 0,", "walk(t, p.prepared,", derivedGraph, ""},
		"the first run drops for all":            {"clip.cu", "identity_of(drawn, run)", "identity_of(drawn, 0)", "Dropout", ""},
		"each step drops the same":               {"clip.cu", " + drawn.taken + drawn.slot;", ";", "Dropout", ""},
		"another run's derived values predict":   {"predict.cu", "run == prepared_for ? p.prepared", "prepared_for >= 0 ? p.prepared", "Predict", ""},
		"a place in the tile drops":              {"walk.cuh", "kept_of(from, uint32_t(sample_of(t, s))", "kept_of(from, uint32_t(s)", dropoutGraph, ""},
		"all samples drop the same":              {"walk.cuh", "kept_of(from, uint32_t(sample_of(t, s)) * draws +", "kept_of(from, ", dropoutGraph, ""},
		"each dropout begins with the first":     {"walk.cuh", "draw_from + uint32_t(block)", "uint32_t(block)", dropoutGraph, ""},
		"what minibatches are drawn by drops":    {"walk.cuh", "t.identity, graph_stream, t.step);\n		uint32_t mask", "t.identity, minibatch_stream, t.step);\n		uint32_t mask", dropoutGraph, ""},
		"a draw's other half":                    {"walk.cuh", "(32 * (i % 2)) &", "(32 - 32 * (i % 2)) &", dropoutGraph, ""},
		"what is kept isn't scaled":              {"walk.cuh", "x.base[source + j] / share", "x.base[source + j]", dropoutGraph, ""},
		"a dropout's gradient replaces":          {"walk.cuh", "z[e] = add ? float(z[e]) + v : v;\n			}\n		}", "z[e] = v;\n			}\n		}", dropoutGraph, ""},
		"each random node begins with the first": {"walk.cuh", "* draws + draw_from + uint32_t(e % blocks)", "* draws + uint32_t(e % blocks)", "Randoms", ""},
		"a place in the tile draws numbers":      {"walk.cuh", "draw(from, uint32_t(sample_of(t, s)) * draws", "draw(from, uint32_t(s) * draws", "Randoms", ""},
		"what minibatches are drawn by draws":    {"walk.cuh", "stream from = stream_of(t.identity, graph_stream, t.step);\n	ROLLED\n	for (int e", "stream from = stream_of(t.identity, minibatch_stream, t.step);\n	ROLLED\n	for (int e", "Randoms", ""},
		"a pair's numbers exchanged":             {"walk.cuh", "put(i, float(z1)), put(i + 1, float(z2));", "put(i, float(z2)), put(i + 1, float(z1));", "Randoms", ""},
		"numbers of 23 bits":                     {"walk.cuh", ">> 8) * 0x1p-24f", ">> 9) * 0x1p-23f", "Randoms", ""},
		"no last number":                         {"walk.cuh", "if (first + i < size)\n				z[", "if (first + i < size - 1)\n				z[", "Randoms", ""},
		"the tile's samples derive":              {"walk.cuh", "t.n = i < prepared ? 1 : n;", "t.n = n;", "a power of a weight", ""},
		"a sample where there is one":            {"walk.cuh", "t.n = i < prepared ? 1 : n;", "t.n = i <= prepared ? 1 : n;", derivedGraph, ""},
		"the first group's columns":              {"product.cuh", "(b % groups * size + n * along)", "(n * along)", groupsGraph, ""},
		"the first group's rows":                 {"product.cuh", "(b % groups * rows + m) * k", "m * k", "product of a sample's own", ""},
		"a group for a sample":                   {"product.cuh", "own_rows(const tile &t, operand x, int groups, int rows, int k) : t(t), x(x), groups(groups)", "own_rows(const tile &t, operand x, int, int rows, int k) : t(t), x(x), groups(1)", "product of a sample's own", ""},
		"fours of rows that aren't":              {"product.cuh", "aligned(x.base) && k % 4 == 0", "true", "product of its own, right turned", ""},
		"fours of rows, by the left one alone":   {"product.cuh", "left.in_fours() && right.in_fours()", "left.in_fours()", foursGraph, ""},
		"the right one's first of four terms":    {"product.cuh", "add_both(x[k], y[k]);", "add_both(x[k], y[0]);", foursGraph, ""},
		"a product's sum replaces":               {"product.cuh", "int(int32_t(code[word_add])) == 1, n, rows * n)", "false, n, rows * n)", foursGraph, ""},
		"a variance of the elements":             {"walk.cuh", "float d = x[j] - mean;", "float d = x[j];", normalGraph, ""},
		"nothing is added to the variance":       {"walk.cuh", "float(k) + more)", "float(k))", normalGraph, ""},
		"a mean that isn't taken back":           {"walk.cuh", "float v = (d[j] - sum - ", "float v = (d[j] - ", normalGraph, ""},
		"a norm's gradient replaces":             {"walk.cuh", "products) * m.inverse;\n			to[j] = add ? float(to[j]) + v : v;", "products) * m.inverse;\n			to[j] = v;", "normalised beside its operand", ""},
		"equal operands go to the second":        {"functions.cuh", "(a >= b) == (side == 0)", "(a > b) == (side == 0)", "Ties", ""},
		// Geometry.
		"padding that isn't 0":                         {"walk.cuh", "from < 0 ? 0.0f", "from < 0 ? 1.0f", dilatedGraph, ""},
		"an offset in the list is skipped":             {"product.cuh", "ahead = list[k + 1];", "ahead = list[k + 2];", dilatedGraph, ""},
		"a window where positions are":                 {"product.cuh", "offsets x(t, operand_of(t, code, word_in1, w.image()), window);", "offsets x(t, operand_of(t, code, word_in1, w.image()), positions);", dilatedGraph, ""},
		"padding is read from beside the image":        {"walk.cuh", "from < 0 ?", "from < -1 ?", dilatedGraph, "out of bounds"},
		"the steps back swapped":                       {"product.cuh", "column_at = -c.back -", "column_at = -r.back -", "back through a convolution: stride two over three", ""},
		"pixels that no element meets":                 {"product.cuh", "rows(c.count == 0 ? 0 : r.count)", "rows(r.count)", "back through a convolution: windows less than stride", ""},
		"the next filter without a gradient's padding": {"product.cuh", "filter_at(height * width)", "filter_at(w.positions())", stridedGraph, ""},
		"the first window's size for all":              {"walk.cuh", "both = table[2 * j + 1];", "both = table[1];", poolGraph, ""},
		"places within a window":                       {"walk.cuh", "places[n.e] = r.first + m.at;", "places[n.e] = m.at;", "max-pool: tall windows", ""},
		"the first plane for all":                      {"walk.cuh", "o.base + (plane * size + first)", "o.base + first", "max-pool: tall windows", ""},
		"the first channel of an image":                {"walk.cuh", "(plane % planes * size + first)", "first", "poolings side by side", ""},
		"a counter that doesn't carry":                 {"program.cuh", "at[d] -= sizes[d], at[d + 1]++;", "at[d] -= sizes[d];", "max-pool: tall windows", ""},
		"a counter that carries late":                  {"program.cuh", "if (at[d] >= sizes[d])", "if (at[d] > sizes[d])", "max-pool: tall windows", ""},
		// The rest of the walk.
		"the last of equals":                          {"walk.cuh", "if (!(v <= best) && best == best)", "if (!(v < best) && best == best)", "Ties", ""},
		"the last pixel of two by two":                {"walk.cuh", "			m.meet(from[w.w + 1], w.w + 1);\n", "", "Ties", ""},
		"windows below two by two":                    {"walk.cuh", "for (int i = 0; i < 2; i++)", "for (int i = 0; i < 1; i++)", "Ties", ""},
		"two windows where there is one":              {"walk.cuh", "w.kw == 2 && w.out_h > 1 && w.out_w > 1", "w.kw == 2", "max-pool: one window tall", ""},
		"any two by two is within the image":          {"walk.cuh", "w.kw == 2 && w.pad_h == 0 && w.pad_w == 0", "w.kw == 2", "max-pool: padded two by two", ""},
		"filters for every sample":                    {"walk.cuh", "== 1 ? 1 : t.n;", "== 1 ? t.n : t.n;", stridedGraph, ""},
		"filters of the first row":                    {"product.cuh", "begin(int, int m) const { return p + m; }", "begin(int, int m) const { return p; }", "more filters than a warp has", ""},
		"the first part of a row's terms":             {"product.cuh", "(m % rows * k + part * terms)", "(m % rows * k)", partsGraph, ""},
		"the first part of a column's":                {"product.cuh", "part * terms * down", "0", partsGraph, ""},
		"four steps where there are fewer":            {"product.cuh", "aligned(x.base) && terms % 4 == 0", "aligned(x.base)", "residual", ""},
		"four steps at any address":                   {"product.cuh", "aligned(x.base) && terms", "terms", "rows behind a number", ""},
		"four positions where there are fewer":        {"product.cuh", "dz.space == in_buffer && positions % 4 == 0", "dz.space == in_buffer", stridedGraph, ""},
		"the first of four steps":                     {"product.cuh", "add(step, x[k]);", "add(step, x[0]);", "two rows within a sample", ""},
		"steps of a copy that follow at once":         {"product.cuh", "return (rows + 7) / 8 * 8;", "return rows;", windowsGraph, ""},
		"the first four rows twice":                   {"product.cuh", "c + (step.copy + ahead)", "c + step.copy", "more filters than a warp has", ""},
		"the first of four positions":                 {"product.cuh", "add(step, x[k]);", "add(step, x[0]);", "more filters than a warp has", ""},
		"rows ahead that aren't there":                {"product.cuh", "if (Left::lie == side_by_side && m0 + rows <= m)", "if (Left::lie == side_by_side)", "residual", ""},
		"a pooling loses NaN":                         {"walk.cuh", "if (!(v <= best) && best == best)", "if (v > best)", "Ties", ""},
		"a pooling forgets NaN":                       {"walk.cuh", "if (!(v <= best) && best == best)", "if (!(v <= best))", "Ties", ""},
		"a softmax without its maximum":               {"walk.cuh", "	maximum = warp_maximum(maximum);", "	maximum = 0;", "softmaxes of long rows", ""},
		"each lane's own maximum":                     {"walk.cuh", "		maximum = warp_maximum(maximum);\n", "", "softmaxes of long rows", ""},
		"one softmax for each sample":                 {"walk.cuh", "row_of(t, x, r / rows) + r % rows * k;\n		global<float> to = z + size_t(r) * k;\n		float maximum", "row_of(t, x, r / rows);\n		global<float> to = z + size_t(r) * k;\n		float maximum", "softmaxes of long rows", ""},
		"a softmax's gradient replaces":               {"walk.cuh", "(d[j] - sum);\n			to[j] = add ? float(to[j]) + v : v;", "(d[j] - sum);\n			to[j] = v;", softmaxGraph, ""},
		"a lane's part of a long sum":                 {"walk.cuh", "		if (warp)\n			sum = warp_sum(sum);\n", "", "sums of many elements", ""},
		"half of a warp is summed":                    {"program.cuh", "for (unsigned reach = 16; reach > 0; reach /= 2)\n		v +=", "for (unsigned reach = 8; reach > 0; reach /= 2)\n		v +=", "sums of many elements", ""},
		"a convolution's gradient replaces":           {"product.cuh", "pixels_out(result_of(t, code), int(int32_t(code[word_add])) == 1, at)", "pixels_out(result_of(t, code), false, at)", windowsGraph, ""},
		"a product's gradient replaces":               {"product.cuh", "int(int32_t(code[word_add])) == 1, parts * columns, columns)", "false, parts * columns, columns)", "residual", ""},
		"a scalar on the wrong side":                  {"walk.cuh", "binary(f, second ? number : x, second ? x : number)", "binary(f, x, number)", "function sub of a number", ""},
		"a derivative by the wrong operand":           {"walk.cuh", "binary_derivative(f, second, of(b)", "binary_derivative(f, 0, of(b)", "function div", ""},
		"a view is read in order":                     {"walk.cuh", "a.in_order() && b.in_order() &&", "a.in_order() &&", "bias used twice", ""},
		"another function than the one that is known": {"functions.cuh", "(f == listed && (go(known<listed>()), true))", "(f != 0 && (go(known<listed>()), true))", "function neg", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := m.found(t)
			switch {
			case said == "":
				t.Error("nobody sees it")
			case !strings.Contains(said, m.says) || strings.Contains(said, "no such kernel"):
				t.Errorf("what is seen is something else: %s", said)
			default:
				t.Log(said)
			}
		})
	}
}

// found compiles the mutant and returns the first report of it.
func (m walkMutant) found(t *testing.T) string {
	t.Helper()
	check, needs, level := m.check()
	kernels := fstest.MapFS{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(needs, m.file)))) {
		text := source(t, name)
		if name == m.file {
			if n := strings.Count(text, m.old); n != 1 {
				t.Fatalf("%s has %q %d times", m.file, m.old, n)
			}
			text = strings.Replace(text, m.old, m.new, 1)
		}
		kernels[name] = &fstest.MapFile{Data: []byte(text)}
	}
	l, err := build(t.Context(), kernels, level)
	if err != nil {
		t.Fatal(err)
	}
	s := enginetest.Suite{Engine: emulated(t, l, 1), Inspect: inspect, Tolerance: 2e-4, Short: true}
	return firstReport(func(t enginetest.TB) { check(t, s) })
}

// check returns the check that must find the mutant, the kernels that it launches, and the level of optimization at
// which compiling and running together take the least time; results are the same at each.
func (m walkMutant) check() (check func(enginetest.TB, enginetest.Suite), needs []string, level string) {
	if m.by == "Shares" {
		return func(t enginetest.TB, s enginetest.Suite) {
			shares(t, func(uint64) (driver.Device, error) { return s.Engine().(lent).devices[0], nil })
		}, []string{"clip.cu"}, "-O0"
	}
	if check := enginetest.Checks()[m.by]; check != nil {
		switch m.by {
		case "Wide":
			return check, []string{"clip.cu"}, "-O1"
		case "Exact", "Additive", "Scales", "Clipping", "Rounding":
			return check, []string{"clip.cu"}, "-O0"
		case "Outputs":
			return check, []string{"predict.cu"}, "-O0"
		case "Ties":
			return check, []string{"clip.cu", "predict.cu"}, "-O0"
		case "Tables":
			return check, []string{"draw.cu", "clip.cu", "update.cu", "predict.cu"}, "-O1"
		case "Predict", "Dropout", "Randoms":
			return check, []string{"draw.cu", "clip.cu", "update.cu", "predict.cu"}, "-O1"
		}
		return check, []string{"draw.cu", "clip.cu", "update.cu"}, "-O1"
	}
	z, ok := enginetest.Zoo()[m.by]
	if !ok {
		panic(fmt.Sprintf("there is neither a check nor a graph %q", m.by))
	}
	// Without an output nothing is predicted, and a kernel less to be compiled.
	sums := func(batch int) (compile.Source, error) {
		src, err := z.Build(batch)
		src.Output = nil
		return src, err
	}
	return func(t enginetest.TB, s enginetest.Suite) {
		s.CheckGraph(t, sums, 2, enginetest.RandomData(z.Program(t, 1), 43, 1)) // two tiles for one of the blocks
	}, []string{"clip.cu"}, "-O0"
}

// firstReport runs a check until its first report, which it returns.
func firstReport(check func(enginetest.TB)) string {
	var r firstOf
	ended := make(chan bool)
	go func() {
		defer close(ended)
		check(&r)
	}()
	<-ended
	return string(r)
}

// firstOf is the first report of a check, which ends it.
type firstOf string

func (r *firstOf) Helper() {}
func (r *firstOf) Errorf(f string, args ...any) {
	if *r == "" {
		*r = firstOf(fmt.Sprintf(f, args...))
	}
	runtime.Goexit()
}
func (r *firstOf) Fatalf(f string, args ...any) { r.Errorf(f, args...) }
func (r *firstOf) Fatal(args ...any)            { r.Errorf("%s", fmt.Sprint(args...)) }
